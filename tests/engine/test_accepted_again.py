"""Work that a target accepted and that is tried again gives back the permits of every one of its attempts."""

from datetime import timedelta

from horae.domain.limits.limits import Limit
from horae.domain.targets.targets import HttpTarget
from horae.engine.accepted import AcceptedWork
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.engine.running import hurry, running
from tests.engine.test_f18_accepted_work import ACCEPTED, finish_accepted
from tests.steps import a_type, query, until


async def test_an_attempt_that_follows_at_once_leaves_no_permit_behind(ctx, store, catcher, monkeypatch):
    """The duty that gives permits back does not come by between the two attempts."""
    away, real = [], AcceptedWork.once

    async def once(accepted):
        return 0 if away else await real(accepted)

    monkeypatch.setattr(AcceptedWork, "once", once)
    catcher.answer = lambda _: 202
    target = HttpTarget(catcher.url, completion_seconds=300)
    await a_type(ctx, "T", target=target, limit=Limit(concurrency=2))
    await Copier(store).once()
    await tasks.schedule(ctx, "T", "forgotten")
    async with running(store, ttl=timedelta(seconds=8)) as node:
        await until(lambda: is_accepted(store, 1), 30)
        away.append("for as long as the second attempt takes")
        await hurry(store, node, minutes=6)
        await until(lambda: is_accepted(store, 2), 30)
        away.clear()
        assert await finish_accepted(ctx, store) == 1
        await until(lambda: not any(post.accepted._counted for post in node.runners.values()), 30)
        [limited] = node.quotas._slices.values()
        assert limited._in_use == 0


async def is_accepted(store, attempt):
    return [row["attempt"] for row in await query(store, ACCEPTED)] == [attempt]
