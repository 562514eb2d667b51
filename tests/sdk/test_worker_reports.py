"""What a handler says, however it says it, ends its own attempt and disturbs no other."""

import asyncio
import logging
from datetime import timedelta

import pytest

from horae_client import Keyed, Put, Retry, RetryPolicy, Snooze, Unrecoverable
from tests.sdk.test_worker import a_worker, asked, ended, working  # noqa: F401

GOOD = [f"good-{n}" for n in range(50)]


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Odd(BaseException):
    """What some libraries raise to get past `except Exception`."""


def refuse(ctx):
    """Each in a way that once was a report nobody could send, or one that the server refused with all others."""
    match ctx.key:
        case "exception":
            raise Unrecoverable(ValueError("no such article"))
        case "nothing":
            raise Unrecoverable(None)
        case "surrogate":
            raise ValueError("caf\udce9")
        case "wordless":
            raise Wordless
        case "odd":
            raise Odd
        case "object":
            ctx.compensate("REFUND", "k", payload=object())
        case "key":
            ctx.compensate("REFUND", "")
        case "large":
            ctx.compensate("REFUND", "k", payload="x" * 70_000)
        case "many":
            for n in range(21):
                ctx.compensate("REFUND", f"k-{n}")


BAD = ["exception", "nothing", "surrogate", "wordless", "odd", "object", "key", "large", "many"]


@pytest.mark.parametrize("blocks", [True, False], ids=["thread", "loop"])
async def test_whatever_a_handler_says_its_attempt_ends_and_no_other_is_touched(home, asked, blocks, monkeypatch):  # noqa: F811
    monkeypatch.setattr(logging.getLogger("horae_client.worker"), "disabled", True)  # a surrogate breaks the report
    worker = a_worker(home)
    await asked.jobs.create("U", trigger=Keyed(), retry=RetryPolicy(max_failures=1))
    together = asyncio.Event()

    @worker.task("U")
    async def handle(ctx):
        await asyncio.wait_for(together.wait(), 60)  # so that all are reported at once
        refuse(ctx)

    if blocks:
        worker.kinds.clear()
        worker.task("U")(refuse)
    together.set()
    await asked.tasks.schedule_many("U", [Put(key) for key in (*GOOD, *BAD)])
    async with working(worker):
        outcomes = {key: await ended(asked, key, "U") for key in (*GOOD, *BAD)}
    assert outcomes == dict.fromkeys(GOOD, "SUCCESS") | dict.fromkeys(BAD, "DEAD")
    assert {one.attempt for key in GOOD async for one in asked.instances.list(key=key)} == {1}


async def test_pauses_are_taken_as_people_write_them(home, asked):  # noqa: F811
    says = {"delta": Snooze(timedelta(milliseconds=20)), "past": Snooze(-1), "since": Retry("x", after=-5.0)}
    worker, seen = a_worker(home), set()

    @worker.task("T")
    async def handle(ctx):
        if ctx.key not in seen:
            seen.add(ctx.key)
            raise says[ctx.key]

    await asked.tasks.schedule_many("T", [Put(key) for key in says])
    async with working(worker):
        assert {await ended(asked, key) for key in says} == {"SUCCESS"}
    with pytest.raises(ValueError, match="number of seconds"):
        Snooze("30")
