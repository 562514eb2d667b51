"""Instances, holds, backfills, dead letters, calendars."""

from collections.abc import Sequence
from datetime import date, datetime

from horae_client import keys
from horae_client.asked import runs as asked
from horae_client.models import Backfill, Calendar, DeadLetter, Hold, Instance, Replayed, Retried
from horae_client.sync.verbs import Items, Verbs
from horae_client.wire import said


class Instances(Verbs):
    """The instances: single fires of jobs."""

    def get(self, instance: str) -> Instance:
        """Get one instance with its attempts.

        >>> made = client.jobs.trigger("coupon_job")
        >>> one = client.instances.get(made.instance_id)
        >>> one.state, one.attempts
        ('INIT', [])
        """
        return self._ask(asked.instance(instance))

    def list(
        self,
        *,
        states: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        key: str | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Items[Instance]:
        """List the tenant's instances, the newest ones first: by creation, or with `order="fire_time"` by fire time.

        `since` and `until` refer to the same time.

        >>> made = client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> [one.key for one in client.instances.list(key="article-42")]
        ['article-42']
        """
        return self._pages(asked.instances(states, since, until, key, order), limit)

    def cancel(self, instance: str, *, idempotency_key: str | None = None) -> Instance:
        """Cancel a live instance. A call in flight is not aborted, but its late result is refused.

        >>> made = client.jobs.trigger("coupon_job")
        >>> one = client.instances.cancel(made.instance_id)
        >>> one.state
        'CANCELLED'
        """
        return self._ask(asked.cancel_instance(instance, keys.made(idempotency_key)))

    def retry(self, instance: str) -> Retried:
        """Try again now: an instance that waits for its retry at once, a dead one as a replay of its dead letter.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> again = client.instances.retry(letters[0].instance_id)
        >>> again.instance_id == letters[0].instance_id
        False
        """
        return self._ask(asked.retry_instance(instance))


class Holds(Verbs):
    """Calls that are due and held back."""

    def list(self, *, limit: int | None = None) -> Items[Hold]:
        """List the targets and limits that hold calls back, why and since when; most waiting calls first.

        That order holds for the first page. Further pages have the others in a fixed order: none is missed or repeated
        while the numbers change.

        >>> [one.reason for one in client.holds.list()]
        []
        """
        return self._pages(asked.holds(), limit)


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


class DeadLetters(Verbs):
    """Dead letters: instances that were given up, with replay and discard."""

    def list(
        self,
        *,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        status: str | None = None,
        limit: int | None = None,
    ) -> Items[DeadLetter]:
        """List the dead letters, newest first.

        >>> [(one.job, one.error_msg) for one in client.dead_letters.list(job="coupon_job")]
        [('coupon_job', 'no such coupon')]
        """
        return self._pages(asked.dead_letters(said(job=job, tag=tag, error_code=error_code, status=status)), limit)

    def replay(self, instance: str) -> Retried:
        """Replay one dead letter now: a new instance with the same fire time and idempotency key.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> again = client.dead_letters.replay(letters[0].instance_id)
        >>> one = client.instances.get(again.instance_id)
        >>> one.idempotency_key == letters[0].idempotency_key
        True
        """
        return self._ask(asked.replay(instance))

    def replay_many(
        self,
        *,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        limit: int | None = None,
    ) -> Replayed:
        """Replay many dead letters in the backfill lane, which has the smallest share; oldest first.

        >>> done = client.dead_letters.replay_many(job="coupon_job")
        >>> done.sent
        1
        """
        return self._ask(asked.replay_many(said(job=job, tag=tag, error_code=error_code, limit=limit)))

    def discard(self, instance: str) -> None:
        """Discard one dead letter for good.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> client.dead_letters.discard(letters[0].instance_id)
        >>> [one.replay_status for one in client.dead_letters.list()]
        ['DISCARDED']
        """
        return self._ask(asked.discard(instance))


class Calendars(Verbs):
    """Calendars: sets of days that schedules share."""

    def get(self, name: str) -> Calendar:
        """Get one calendar.

        >>> from datetime import date
        >>> put = client.calendars.put("workdays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[1])
        >>> days = client.calendars.get("workdays")
        >>> days.weekdays
        [1]
        """
        return self._ask(asked.calendar(name))

    def list(self, *, limit: int | None = None) -> Items[Calendar]:
        """List the calendars by name.

        >>> [one.name for one in client.calendars.list()]
        []
        """
        return self._pages(asked.calendars(), limit)

    def put(
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
        >>> days = client.calendars.put("paydays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[5])
        >>> days.moved
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        return self._ask(asked.put_calendar(name, body))
