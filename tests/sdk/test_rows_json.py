"""S-17: whatever comes to the Python client, an answer or a call, is read or refused by one error."""

from contextlib import suppress

import msgspec
import pytest

from horae_client import wire
from horae_client.errors import HoraeError
from horae_client.receive.calls import Received, call_of
from tests.api.hostile import UNREADABLE, WRONG, mutations
from tests.delivery.corpus import BODIES

BODIES_OF_ALL = {**UNREADABLE, **WRONG, **BODIES}
READS = (dict, list, msgspec.Raw)
PROBLEM = {"code": "SCH_409_CONFLICT", "title": "a", "detail": "b", "errors": [{"field": "a"}], "retry_after": 1}
CALL = {"job": "a", "instance": "ins_1", "fire_time": "2026-01-01T00:00:00Z", "attempt": 1, "idempotency_key": "k"}


@pytest.mark.parametrize("name", BODIES_OF_ALL)
@pytest.mark.parametrize("status", [200, 400, 503])
def test_an_answer_is_read_or_refused_by_one_error(name, status):
    for reads in READS:
        with suppress(HoraeError):
            wire.read(wire.Request("GET", "/", reads), status, {"retry-after": "x" * 5000}, BODIES_OF_ALL[name])


def test_a_problem_with_any_value_in_any_place_is_a_refusal():
    for _, problem in mutations(PROBLEM):
        with pytest.raises(HoraeError):
            wire.read(wire.Request("GET", "/", dict), 409, {}, msgspec.json.encode(problem))


@pytest.mark.parametrize("name", BODIES_OF_ALL)
def test_a_call_is_known_by_its_headers_whatever_its_body_holds(name):
    found = call_of(Received({"Idempotency-Key": "k", "Horae-Attempt": "2"}, BODIES_OF_ALL[name]))
    assert (found.idempotency_key, found.attempt) == ("k", 2)


def test_a_call_with_any_value_in_any_place_is_read():
    for _, said in mutations(CALL):
        assert call_of(Received({"Horae-Attempt": "x"}, msgspec.json.encode(said))).attempt >= 1
