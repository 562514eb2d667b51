"""Instances, holds, backfills, dead letters and their triage, calendars."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from msgspec import UNSET

from horae_client import keys
from horae_client.aio.verbs import AsyncEvents, AsyncItems, AsyncVerbs
from horae_client.asked import explanations as explained
from horae_client.asked import runs as asked
from horae_client.asked.jobs import backfill_body
from horae_client.models import (
    Backfill,
    BackfillGroup,
    BackfillPlan,
    Calendar,
    CalendarPreview,
    ChangedDeadLetters,
    DeadLetter,
    Explanation,
    FailureCause,
    FailureCauseDetail,
    Hold,
    Instance,
    InstanceResult,
    LogLine,
    PacedReplay,
    Replayed,
    Retried,
    StartedBackfillGroup,
)
from horae_client.wire import said


class AsyncInstances(AsyncVerbs):
    """The instances: single fires of jobs."""

    async def get(self, instance: str) -> Instance:
        """Get one instance with its attempts.

        >>> made = await client.jobs.trigger("coupon_job")
        >>> one = await client.instances.get(made.instance_id)
        >>> one.state, one.attempts
        ('INIT', [])
        """
        return await self._ask(asked.instance(instance))

    def logs(self, instance: str, *, limit: int | None = None) -> AsyncItems[LogLine]:
        """List the lines that the attempts of an instance logged, oldest first. `limit` is the size of a page.

        >>> made = await client.jobs.trigger("coupon_job")
        >>> [line.text async for line in client.instances.logs(made.instance_id)]
        []
        """
        return self._pages(asked.log_lines(instance), limit)

    def tail(self, instance: str) -> AsyncEvents[LogLine]:
        """Follow the lines of an instance as they are written, from the first one on, until the instance ends.

        A broken connection is made again, without a line missing or repeated.

        >>> letters = [one async for one in client.dead_letters.list()]
        >>> [line.text async for line in client.instances.tail(letters[0].instance_id)]
        []
        """
        return self._events(asked.tail(instance))

    async def result(self, instance: str) -> InstanceResult:
        """Get what an instance returned. It raises `errors.NotFound` if it has not ended, or returned nothing.

        >>> from horae_client import errors
        >>> made = await client.jobs.trigger("coupon_job")
        >>> try:
        ...     result = await client.instances.result(made.instance_id)
        ... except errors.NotFound:
        ...     print("no result yet")
        no result yet
        """
        return await self._ask(asked.result(instance))

    async def explain(self, instance: str, *, lang: str | None = None) -> Explanation:
        """Explain what an instance waits for, or how it ended, in sentences; `lang` is "en" or "zh".

        >>> made = await client.jobs.trigger("coupon_job")
        >>> why = await client.instances.explain(made.instance_id, lang="zh")
        >>> why.kind, why.language
        ('instance', 'zh')
        """
        return await self._ask(explained.instance(instance, lang))

    def list(
        self,
        *,
        states: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        key: str | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> AsyncItems[Instance]:
        """List the tenant's instances, the newest ones first: by creation, or with `order="fire_time"` by fire time.

        `since` and `until` refer to the same time.

        >>> made = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> [one.key async for one in client.instances.list(key="article-42")]
        ['article-42']
        """
        return self._pages(asked.instances(states, since, until, key, order), limit)

    async def cancel(self, instance: str, *, idempotency_key: str | None = None) -> Instance:
        """Cancel a live instance. A call in flight is not aborted, but its late result is refused.

        >>> made = await client.jobs.trigger("coupon_job")
        >>> one = await client.instances.cancel(made.instance_id)
        >>> one.state
        'CANCELLED'
        """
        return await self._ask(asked.cancel_instance(instance, keys.made(idempotency_key)))

    async def retry(self, instance: str) -> Retried:
        """Try again now: an instance that waits for its retry at once, a dead one as a replay of its dead letter.

        >>> letters = [one async for one in client.dead_letters.list()]
        >>> again = await client.instances.retry(letters[0].instance_id)
        >>> again.instance_id == letters[0].instance_id
        False
        """
        return await self._ask(asked.retry_instance(instance))


class AsyncHolds(AsyncVerbs):
    """Calls that are due and held back."""

    def list(self, *, limit: int | None = None) -> AsyncItems[Hold]:
        """List the targets and limits that hold calls back, why and since when; most waiting calls first.

        That order holds for the first page. Further pages have the others in a fixed order: none is missed or repeated
        while the numbers change.

        >>> [one.reason async for one in client.holds.list()]
        []
        """
        return self._pages(asked.holds(), limit)


class AsyncBackfills(AsyncVerbs):
    """Backfills: past fires that are run later."""

    async def get(self, backfill: str) -> Backfill:
        """Get the progress of a backfill.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> begun = await client.jobs.backfill("coupon_job", since=now - 2 * hour, until=now - hour)
        >>> one = await client.backfills.get(begun.id)
        >>> one.status, one.born
        ('RUNNING', 0)
        """
        return await self._ask(asked.backfill(backfill))

    def list(self, job: str, *, limit: int | None = None) -> AsyncItems[Backfill]:
        """List a job's backfills, newest first.

        >>> [one.id async for one in client.backfills.list("coupon_job")]
        []
        """
        return self._pages(asked.backfills(job), limit)

    async def plan(
        self,
        job: str,
        *,
        since: datetime,
        until: datetime,
        cap: int | None = None,
        rerun: bool | None = None,
        mode: str | None = None,
        newest_first: bool | None = None,
        rate: float | None = None,
    ) -> BackfillPlan:
        """Dry run: how many fires a backfill would run, how long it takes, what load it is, what bounds its pace.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> plan = await client.backfills.plan("coupon_job", since=now - 2 * hour, until=now - hour, rate=2)
        >>> plan.planned, plan.needed
        (12, 12)
        """
        body = backfill_body(since, until, cap, rerun, mode, newest_first, rate)
        return await self._ask(asked.plan_backfill(job, body))

    async def pause(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Pause a backfill: no more fires are created until it is resumed; those that exist run.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> begun = await client.jobs.backfill("coupon_job", since=now - timedelta(hours=2), until=now, rate=0.01)
        >>> answer = await client.backfills.pause(begun.id)
        >>> answer.status
        'PAUSED'
        """
        return await self._ask(asked.pause_backfill(backfill, keys.made(idempotency_key)))

    async def resume(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Resume a paused backfill where it stood.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> begun = await client.jobs.backfill("coupon_job", since=now - timedelta(hours=2), until=now, rate=0.01)
        >>> one = await client.backfills.pause(begun.id)
        >>> answer = await client.backfills.resume(begun.id)
        >>> answer.status
        'RUNNING'
        """
        return await self._ask(asked.resume_backfill(backfill, keys.made(idempotency_key)))

    async def cancel(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Cancel a backfill: no more fires are created, waiting ones are cancelled, running ones may finish.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> begun = await client.jobs.backfill("coupon_job", since=now - 2 * hour, until=now - hour)
        >>> one = await client.backfills.cancel(begun.id)
        >>> one.status
        'CANCELLED'
        """
        return await self._ask(asked.cancel_backfill(backfill, keys.made(idempotency_key)))


class AsyncBackfillGroups(AsyncVerbs):
    """Backfill groups: the same backfill for every job that is chosen by label. Each job has a part of its own."""

    async def start(
        self,
        *,
        since: datetime,
        until: datetime,
        labels: Mapping[str, str] | None = None,
        owner: str | None = None,
        prefix: str | None = None,
        cap: int | None = None,
        rerun: bool | None = None,
        mode: str | None = None,
        newest_first: bool | None = None,
        rate: float | None = None,
        idempotency_key: str | None = None,
    ) -> StartedBackfillGroup:
        """Run past fires of every job that has all labels. `rate` is that of all jobs together.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = await client.backfill_groups.start(since=now - timedelta(hours=2), until=now, prefix="coupon_job")
        >>> [item.name for item in group.items]
        ['coupon_job']
        """
        chosen = {"labels": labels, "owner": owner, "prefix": prefix}
        body = backfill_body(since, until, cap, rerun, mode, newest_first, rate, **chosen)
        return await self._ask(asked.start_backfill_group(body, keys.made(idempotency_key)))

    async def get(self, group: str) -> BackfillGroup:
        """Get the progress of a backfill group and of its parts.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = await client.backfill_groups.start(since=now - timedelta(hours=2), until=now, prefix="coupon_job")
        >>> found = await client.backfill_groups.get(group.id)
        >>> len(found.parts)
        1
        """
        return await self._ask(asked.backfill_group(group))

    async def pause(self, group: str) -> BackfillGroup:
        """Pause every part that runs.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = await client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> answer = await client.backfill_groups.pause(group.id)
        >>> answer.status
        'PAUSED'
        """
        return await self._ask(asked.change_backfill_group(group, "pause"))

    async def resume(self, group: str) -> BackfillGroup:
        """Resume every part that is paused.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = await client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> one = await client.backfill_groups.pause(group.id)
        >>> answer = await client.backfill_groups.resume(group.id)
        >>> answer.status
        'RUNNING'
        """
        return await self._ask(asked.change_backfill_group(group, "resume"))

    async def cancel(self, group: str) -> BackfillGroup:
        """Cancel every part that has not ended.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = await client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> answer = await client.backfill_groups.cancel(group.id)
        >>> answer.status
        'CANCELLED'
        """
        return await self._ask(asked.change_backfill_group(group, "cancel"))


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


class AsyncCalendars(AsyncVerbs):
    """Calendars: sets of days that schedules share."""

    async def get(self, name: str) -> Calendar:
        """Get one calendar.

        >>> from datetime import date
        >>> put = await client.calendars.put("workdays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[1])
        >>> days = await client.calendars.get("workdays")
        >>> days.weekdays
        [1]
        """
        return await self._ask(asked.calendar(name))

    def list(self, *, limit: int | None = None) -> AsyncItems[Calendar]:
        """List the calendars by name.

        >>> [one.name async for one in client.calendars.list()]
        []
        """
        return self._pages(asked.calendars(), limit)

    async def put(
        self,
        name: str,
        *,
        first: date,
        last: date,
        weekdays: Sequence[int] = (),
        added: Sequence[date] = (),
        removed: Sequence[date] = (),
    ) -> Calendar:
        """Write a calendar. Before the answer, every job that uses it is planned again.

        >>> from datetime import date
        >>> days = await client.calendars.put("paydays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[5])
        >>> days.moved
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        return await self._ask(asked.put_calendar(name, body))

    async def preview(
        self,
        name: str,
        *,
        first: date,
        last: date,
        weekdays: Sequence[int] = (),
        added: Sequence[date] = (),
        removed: Sequence[date] = (),
        days: int = 90,
        after: str = "",
        limit: int = 20,
    ) -> CalendarPreview:
        """Preview a change of a calendar: the coming fires that it adds to its jobs and removes from them.

        >>> from datetime import date
        >>> found = await client.calendars.preview("x", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[4])
        >>> found.jobs
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        more = {"days": days, "after": after, "limit": limit}
        return await self._ask(asked.preview_calendar(name, body | more))
