import pytest

from horae.domain.connections.transports import Transport, examine_transports, is_local
from horae.domain.health.doctor import Severity

REMOTE = Transport(("db.example.com",), "prefer")


@pytest.mark.parametrize(
    "host", ["/run/postgresql/.s.PGSQL.5432", "@abstract", "localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1"]
)
def test_sockets_and_loopback_leave_nothing_on_a_network(host):
    assert is_local(host)
    assert examine_transports([Transport((host,), "disable")], production=True, optional=False).level is Severity.OK


@pytest.mark.parametrize(
    "host",
    ["db.example.com", "localhost.example.com", "10.0.0.5", "0.0.0.0", "192.168.1.1", "::", "fe80::1", "127.1.evil"],
)
@pytest.mark.parametrize("sslmode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_another_host_without_a_verified_certificate_is_a_fault_in_production(host, sslmode):
    found = examine_transports([Transport((host,), sslmode)], production=True, optional=False)
    assert (found.level, found.found) == (Severity.FAULT, f"{sslmode} to {host}")
    assert "sslmode=verify-full" in found.advice


def test_one_exposed_host_or_dsn_among_others_is_enough():
    mixed = Transport(("127.0.0.1", "db.example.com"), "require")
    fine = Transport(("db.example.com",), "verify-full")
    for given in ([mixed], [fine, mixed], [Transport(("localhost",), "disable"), REMOTE]):
        assert examine_transports(given, production=True, optional=False).level is Severity.FAULT
    assert examine_transports([fine], production=True, optional=False).level is Severity.OK


def test_outside_of_production_it_is_a_hint():
    assert examine_transports([REMOTE], production=False, optional=False).level is Severity.HINT


@pytest.mark.parametrize("transport", [REMOTE, Transport(("localhost",), "disable")])
def test_the_setting_that_allows_it_is_always_told(transport):
    found = examine_transports([transport], production=True, optional=True)
    assert found.level is Severity.HINT
    assert "HORAE_DATABASE_TLS=optional" in found.found
    assert "HORAE_DATABASE_TLS=optional" in found.advice
