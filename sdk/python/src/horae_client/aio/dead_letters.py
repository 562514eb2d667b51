"""Dead letters, failure causes and paced replays."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from horae_client import keys
from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import dead_letters as asked
from horae_client.models import (
    ChangedDeadLetters,
    DeadLetter,
    FailureCause,
    FailureCauseDetail,
    PacedReplay,
    Replayed,
    Retried,
)
from horae_client.wire import said


class AsyncDeadLetters(AsyncVerbs):
    """Dead letters: instances that were given up, with replay and discard."""

    def list(
        self,
        *,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        cause: str | None = None,
        status: str | None = None,
        limit: int | None = None,
    ) -> AsyncItems[DeadLetter]:
        """List the dead letters, newest first.

        >>> [(one.job, one.error_msg) async for one in client.dead_letters.list(job="coupon_job")]
        [('coupon_job', 'no such coupon')]
        """
        query = said(job=job, tag=tag, error_code=error_code, cause=cause, status=status)
        return self._pages(asked.dead_letters(query), limit)

    async def replay(self, instance: str, *, payload: Any = UNSET) -> Retried:
        """Replay one dead letter now: a new instance with the same fire time and idempotency key.

        With `payload`, it carries that in the place of its own payload.

        >>> letters = [one async for one in client.dead_letters.list()]
        >>> again = await client.dead_letters.replay(letters[0].instance_id)
        >>> one = await client.instances.get(again.instance_id)
        >>> one.idempotency_key == letters[0].idempotency_key
        True
        """
        return await self._ask(asked.replay(instance, payload))

    async def replay_many(
        self,
        *,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        limit: int | None = None,
    ) -> Replayed:
        """Replay many dead letters in the backfill lane, which has the smallest share; oldest first.

        >>> done = await client.dead_letters.replay_many(job="coupon_job")
        >>> done.sent
        1
        """
        return await self._ask(asked.replay_many(said(job=job, tag=tag, error_code=error_code, limit=limit)))

    async def discard(self, instance: str) -> None:
        """Discard one dead letter for good.

        >>> letters = [one async for one in client.dead_letters.list()]
        >>> await client.dead_letters.discard(letters[0].instance_id)
        >>> [one.replay_status async for one in client.dead_letters.list()]
        ['DISCARDED']
        """
        return await self._ask(asked.discard(instance))

    async def discard_matching(
        self,
        *,
        reason: str,
        cause: str | None = None,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        limit: int | None = None,
    ) -> ChangedDeadLetters:
        """Discard many dead letters for good, with a reason for the audit log; oldest first.

        >>> done = await client.dead_letters.discard_matching(job="coupon_job", reason="the campaign is over")
        >>> done.changed
        1
        """
        body = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit, reason=reason)
        return await self._ask(asked.discard_many(body))

    async def tag_matching(
        self,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        cause: str | None = None,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        limit: int | None = None,
    ) -> ChangedDeadLetters:
        """Add tags to many dead letters, and remove others; oldest first.

        >>> done = await client.dead_letters.tag_matching(job="coupon_job", add=["after-the-fix"])
        >>> [one.tags async for one in client.dead_letters.list(tag="after-the-fix")]
        [['after-the-fix']]
        """
        body = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit)
        return await self._ask(asked.tag_many({**body, "add": [*add], "remove": [*remove]}))

    async def requeue_by_tag(self, tag: str, limit: int = 1000, *, idempotency_key: str | None = None) -> PacedReplay:
        """Replay the dead letters with a tag at the usual pace, behind due work, in one call.

        >>> begun = await client.dead_letters.requeue_by_tag("transient_error", 5000)
        >>> begun.limit, begun.status
        (5000, 'RUNNING')
        """
        body = {"tag": tag, "limit": limit}
        return await self._ask(asked.start_paced_replay(body, keys.made(idempotency_key)))


class AsyncFailureCauses(AsyncVerbs):
    """Failure causes: why dead letters died, by job, error code and normalised message."""

    def list(self, *, job: str | None = None, limit: int | None = None) -> AsyncItems[FailureCause]:
        """List the failure causes of open dead letters, those with most dead letters first.

        >>> [(one.job, one.message, one.open) async for one in client.failure_causes.list()]
        []
        """
        return self._pages(asked.failure_causes(job), limit)

    async def get(self, cause: str) -> FailureCauseDetail:
        """Get one failure cause with samples, and what changed since they died.

        >>> async for one in client.failure_causes.list():
        ...     detail = await client.failure_causes.get(one.cause)
        ...     print(detail.message, detail.since_death.changed)
        """
        return await self._ask(asked.failure_cause(cause))


class AsyncPacedReplays(AsyncVerbs):
    """Paced replays: many dead letters are sent again, so many a second."""

    async def start(
        self,
        *,
        cause: str | None = None,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        limit: int | None = None,
        pace: int | None = None,
        canary: int | None = None,
        max_failures: int | None = None,
        idempotency_key: str | None = None,
    ) -> PacedReplay:
        """Begin a paced replay: `pace` dead letters a second, and first a `canary`, which must succeed.

        >>> begun = await client.paced_replays.start(tag="transient_error", limit=5000, pace=50, canary=10)
        >>> begun.status, begun.sent
        ('CANARY', 0)
        """
        wanted = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit)
        body = wanted | said(pace=pace, canary=canary, max_failures=max_failures)
        return await self._ask(asked.start_paced_replay(body, keys.made(idempotency_key)))

    def list(self, *, limit: int | None = None) -> AsyncItems[PacedReplay]:
        """List the paced replays, newest first.

        >>> [one.id async for one in client.paced_replays.list()]
        []
        """
        return self._pages(asked.paced_replays(), limit)

    async def get(self, replay: str) -> PacedReplay:
        """Get the progress of a paced replay.

        >>> begun = await client.paced_replays.start(tag="transient_error")
        >>> one = await client.paced_replays.get(begun.id)
        >>> one.succeeded, one.failed
        (0, 0)
        """
        return await self._ask(asked.paced_replay(replay))

    async def stop(self, replay: str, *, idempotency_key: str | None = None) -> PacedReplay:
        """Stop a paced replay. Instances that it has made go on.

        >>> begun = await client.paced_replays.start(tag="transient_error")
        >>> one = await client.paced_replays.stop(begun.id)
        >>> one.status
        'STOPPED'
        """
        return await self._ask(asked.stop_paced_replay(replay, keys.made(idempotency_key)))
