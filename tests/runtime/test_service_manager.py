"""Messages to the service manager go to the socket that the environment names, by the rules of `sd_notify`."""

import os
from contextlib import suppress
from socket import AF_UNIX, SOCK_DGRAM, socket

import pytest

from horae.runtime.service_manager import MAX_STATUS_CHARACTERS, READY, ServiceManager, status_line


@pytest.fixture(params=["notify", "unit@8703", "abstract"])
def address(request, tmp_path):
    return (
        f"@horae-test-{os.getpid()}-{tmp_path.name}" if request.param == "abstract" else str(tmp_path / request.param)
    )


@pytest.fixture
def manager(address):
    with socket(AF_UNIX, SOCK_DGRAM) as receiver:
        receiver.bind("\0" + address[1:] if address.startswith("@") else address)
        receiver.setblocking(False)
        yield receiver


def test_a_message_is_one_datagram_with_a_line_for_each_fact(manager, address):
    assert ServiceManager(address, None).send(READY, status_line("all is well"))
    assert manager.recv(4096) == b"READY=1\nSTATUS=all is well"


def test_a_status_is_one_line_and_not_long():
    assert status_line("cell-0:\nit does\tnot answer") == "STATUS=cell-0: it does not answer"
    assert len(status_line("x" * 5000)) == len("STATUS=") + MAX_STATUS_CHARACTERS


def test_nobody_waits_for_a_manager_that_reads_nothing(manager, address):
    speaker = ServiceManager(address, None)
    while speaker.send(READY):
        pass
    assert not speaker.send(READY)
    with suppress(BlockingIOError):
        while manager.recv(4096):
            pass
    assert speaker.send(READY)


def test_a_manager_that_is_gone_harms_nobody(tmp_path):
    assert not ServiceManager(str(tmp_path / "gone"), None).send(READY)


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "relative"])
def test_without_an_address_that_can_be_used_there_is_no_manager(address):
    assert ServiceManager.of({}) is None
    assert ServiceManager.of({"NOTIFY_SOCKET": address}) is None


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_a_watchdog_waits_if_the_variables_are_for_this_process(variables, seconds):
    found = ServiceManager.of({"NOTIFY_SOCKET": "/run/notify"} | variables)
    assert found == ServiceManager("/run/notify", seconds)
