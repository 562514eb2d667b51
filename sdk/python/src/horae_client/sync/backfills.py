"""Backfills and groups of them."""

from collections.abc import Mapping
from datetime import datetime

from horae_client import keys
from horae_client.asked import backfills as asked
from horae_client.asked.jobs import backfill_body
from horae_client.models import Backfill, BackfillGroup, BackfillPlan, StartedBackfillGroup
from horae_client.sync.verbs import Items, Verbs


class Backfills(Verbs):
    """Backfills: past fires that are run later."""

    def get(self, backfill: str) -> Backfill:
        """Get the progress of a backfill.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> begun = client.jobs.backfill("coupon_job", since=now - 2 * hour, until=now - hour)
        >>> one = client.backfills.get(begun.id)
        >>> one.status, one.born
        ('RUNNING', 0)
        """
        return self._ask(asked.backfill(backfill))

    def list(self, job: str, *, limit: int | None = None) -> Items[Backfill]:
        """List a job's backfills, newest first.

        >>> [one.id for one in client.backfills.list("coupon_job")]
        []
        """
        return self._pages(asked.backfills(job), limit)

    def plan(
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
        >>> plan = client.backfills.plan("coupon_job", since=now - 2 * hour, until=now - hour, rate=2)
        >>> plan.planned, plan.needed
        (12, 12)
        """
        body = backfill_body(since, until, cap, rerun, mode, newest_first, rate)
        return self._ask(asked.plan_backfill(job, body))

    def pause(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Pause a backfill: no more fires are created until it is resumed; those that exist run.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> begun = client.jobs.backfill("coupon_job", since=now - timedelta(hours=2), until=now, rate=0.01)
        >>> answer = client.backfills.pause(begun.id)
        >>> answer.status
        'PAUSED'
        """
        return self._ask(asked.pause_backfill(backfill, keys.made(idempotency_key)))

    def resume(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Resume a paused backfill where it stood.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> begun = client.jobs.backfill("coupon_job", since=now - timedelta(hours=2), until=now, rate=0.01)
        >>> one = client.backfills.pause(begun.id)
        >>> answer = client.backfills.resume(begun.id)
        >>> answer.status
        'RUNNING'
        """
        return self._ask(asked.resume_backfill(backfill, keys.made(idempotency_key)))

    def cancel(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Cancel a backfill: no more fires are created, waiting ones are cancelled, running ones may finish.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> begun = client.jobs.backfill("coupon_job", since=now - 2 * hour, until=now - hour)
        >>> one = client.backfills.cancel(begun.id)
        >>> one.status
        'CANCELLED'
        """
        return self._ask(asked.cancel_backfill(backfill, keys.made(idempotency_key)))


class BackfillGroups(Verbs):
    """Backfill groups: the same backfill for every job that is chosen by label. Each job has a part of its own."""

    def start(
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
        >>> group = client.backfill_groups.start(since=now - timedelta(hours=2), until=now, prefix="coupon_job")
        >>> [item.name for item in group.items]
        ['coupon_job']
        """
        chosen = {"labels": labels, "owner": owner, "prefix": prefix}
        body = backfill_body(since, until, cap, rerun, mode, newest_first, rate, **chosen)
        return self._ask(asked.start_backfill_group(body, keys.made(idempotency_key)))

    def get(self, group: str) -> BackfillGroup:
        """Get the progress of a backfill group and of its parts.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = client.backfill_groups.start(since=now - timedelta(hours=2), until=now, prefix="coupon_job")
        >>> found = client.backfill_groups.get(group.id)
        >>> len(found.parts)
        1
        """
        return self._ask(asked.backfill_group(group))

    def pause(self, group: str) -> BackfillGroup:
        """Pause every part that runs.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> answer = client.backfill_groups.pause(group.id)
        >>> answer.status
        'PAUSED'
        """
        return self._ask(asked.change_backfill_group(group, "pause"))

    def resume(self, group: str) -> BackfillGroup:
        """Resume every part that is paused.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> one = client.backfill_groups.pause(group.id)
        >>> answer = client.backfill_groups.resume(group.id)
        >>> answer.status
        'RUNNING'
        """
        return self._ask(asked.change_backfill_group(group, "resume"))

    def cancel(self, group: str) -> BackfillGroup:
        """Cancel every part that has not ended.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> group = client.backfill_groups.start(
        ...     since=now - timedelta(hours=2), until=now, prefix="coupon_job", rate=0.01
        ... )
        >>> answer = client.backfill_groups.cancel(group.id)
        >>> answer.status
        'CANCELLED'
        """
        return self._ask(asked.change_backfill_group(group, "cancel"))
