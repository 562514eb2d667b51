"""Whatever a stranger answers, its reader says what it means or that it cannot be read; nothing else is raised."""

import asyncio

import msgspec
import pytest

from horae.delivery.batches import outcomes
from horae.delivery.client import Client
from horae.delivery.http import HttpAnswer
from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.foreign import Unreadable, read_as, read_json
from horae.domain.instances.outcomes import Retryable, Success
from horae.domain.targets.answers import judge
from horae.domain.targets.auth import OAuthAuth
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.server import OK, Visit, answer, serving
from tests.egress import ANYWHERE

TOKEN = answer(200, b'{"access_token": "good"}')
NESTED = b"[" * 60_000
UNREADABLE = {
    "nothing": b"",
    "half of it": b'{"results": [',
    "brackets in brackets": NESTED,
    "braces in braces": b'{"a":' * 60_000,
    "no UTF-8": b'{"access_token": "\xff\xfe"}',
    "half a surrogate": b'{"access_token": "\\ud800"}',
    "no JSON": b"<html>",
    "zeros": bytes(100),
    "a bare minus": b"-",
    "a number of a hundred thousand digits": b'{"status": ' + b"9" * 100_000 + b"}",
}
DATES = (
    "Mon, 01 Jan 99999999999 00:00:00 GMT",
    "Mon, 01 Jan 0000 00:00:00 GMT",
    "Mon, 31 Feb 2024 00:00:00 GMT",
    "Mon, 01 Jan 2024 99:99:99 GMT",
    "Mon, 01 Jan 2024 00:00:00 +99999999",
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "1 1 1 1 1",
    ",",
    "\x00",
    "9" * 5000,
)


class Said(msgspec.Struct):
    """What is asked for."""

    access_token: str
    status: int = 0


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_one_error_whatever_the_decoder_calls_it(kind):
    with pytest.raises(Unreadable) as told:
        read_json(UNREADABLE[kind], Said)
    assert len(str(told.value)) < 300
    assert "\0" not in str(told.value)


def test_a_part_of_another_shape_is_the_same_error():
    with pytest.raises(Unreadable):
        read_as([{"access_token": 1}], list[Said])


@pytest.mark.parametrize("date", DATES)
@pytest.mark.parametrize("status", [429, 503])
def test_a_time_that_no_calendar_has_is_no_time(date, status):
    good = "Mon, 01 Jan 2024 00:00:00 GMT"
    for headers in ({"retry-after": date}, {"retry-after": date, "date": good}, {"retry-after": good, "date": date}):
        assert isinstance(judge(status, headers), Retryable)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_batch_whose_answer_says_nothing_about_its_calls_goes_by_its_status(kind):
    assert outcomes(HttpAnswer(200, {}, UNREADABLE[kind]), 3, 300.0) == [Success()] * 3


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_one_bad_answer_of_a_token_endpoint_stops_none_of_its_calls(kind):
    """F1: all who wait are told, and the next one asks anew."""
    said = {b"/token": answer(200, UNREADABLE[kind])}

    async def behave(visit: Visit) -> None:
        while request := await visit.heard():
            await visit.say(said.get(request.split(b" ", 2)[1], OK))

    async with serving(behave) as server:
        client = Client(ANYWHERE)
        sender = Sender(client, secrets_in_memory({TENANT: {"client": "s"}}))
        auth = OAuthAuth(f"{server.url}/token", "me", "client")
        job = a_job(HttpTarget(f"{server.url}/fire", auth=auth))
        async with asyncio.timeout(30):
            first = await asyncio.gather(*(sender.deliver(an_attempt(), job) for _ in range(3)))
            said[b"/token"] = TOKEN  # it is well again
            then = await sender.deliver(an_attempt(), job)
        await client.close()
    assert all(isinstance(one.outcome, Retryable) for one in first)
    assert isinstance(then.outcome, Success)
