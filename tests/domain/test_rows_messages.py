"""S-17: a message of a broker is read as strictly as a body of the API."""

import pytest

from horae.domain.errors import HoraeError
from horae.domain.events.channels import TopicAddress
from horae.domain.events.intakes import Intake, read
from horae.domain.foreign import Unreadable, read_unambiguous_json
from horae.domain.tasks.tasks import check_payload
from tests.api.hostile import UNREADABLE, WRONG

INTAKE = Intake(source=TopicAddress("b", "t"))
DEEP = {"33 levels", "33 levels of objects"}
"""How deep a payload may be is judged where a task is made of it, whoever sent it."""


def a_message(payload: bytes) -> bytes:
    return b'{"type": "T", "key": "k", "version": 1, "payload": %b}' % payload


def take(body: bytes) -> None:
    check_payload(read(body, INTAKE).payload)


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_two_readers_could_understand_differently_is_no_change(name):
    for body in (UNREADABLE[name], a_message(UNREADABLE[name])):
        with pytest.raises(HoraeError) as told:
            take(body)
        assert "\0" not in str(told.value)
        assert len(str(told.value)) < 300


@pytest.mark.parametrize("name", WRONG)
def test_a_message_of_another_shape_is_no_change(name):
    with pytest.raises(HoraeError):
        take(WRONG[name])


@pytest.mark.parametrize("name", sorted(UNREADABLE.keys() - DEEP))
def test_every_text_that_the_api_refuses_is_unreadable(name):
    with pytest.raises(Unreadable):
        read_unambiguous_json(UNREADABLE[name])


@pytest.mark.parametrize(
    "body", [b'{"\\u00e9": "\\ud83d\\ude00"}', b"[9223372036854775807, -1.5e3, null, true]", b"{}"]
)
def test_what_every_reader_understands_alike_is_read(body):
    assert read_unambiguous_json(body) is not None


def test_a_change_keeps_its_payload_as_it_was_written():
    body = a_message(b'{"a": [1, 1.5, "\\u00e9", null], "b": -9223372036854775808}')
    assert read(body, INTAKE).payload == {"a": [1, 1.5, "é", None], "b": -(2**63)}
