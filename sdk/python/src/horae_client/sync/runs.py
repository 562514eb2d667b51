"""Instances, holds, backfills, dead letters, calendars."""

from collections.abc import Sequence
from datetime import date, datetime

from horae_client import keys
from horae_client.asked import runs as asked
from horae_client.models import Backfill, Calendar, DeadLetter, Hold, Instance, Replayed, Retried
from horae_client.sync.verbs import Items, Verbs
from horae_client.wire import said


class Instances(Verbs):
    """Single fires."""

    def get(self, instance: str) -> Instance:
        """One instance with its attempts.

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
        limit: int | None = None,
    ) -> Items[Instance]:
        """The tenant's instances, newest birth first.

        >>> made = client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> [one.key for one in client.instances.list(key="article-42")]
        ['article-42']
        """
        return self._pages(asked.instances(states, since, until, key), limit)

    def cancel(self, instance: str, *, idempotency_key: str | None = None) -> Instance:
        """End a live instance. A call in flight is not aborted; its late answer is refused.

        >>> made = client.jobs.trigger("coupon_job")
        >>> one = client.instances.cancel(made.instance_id)
        >>> one.state
        'CANCELLED'
        """
        return self._ask(asked.cancel_instance(instance, keys.made(idempotency_key)))

    def retry(self, instance: str) -> Retried:
        """Try again now: what waits for its retry at once, what is dead as a replay of its letter.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> again = client.instances.retry(letters[0].instance_id)
        >>> again.instance_id == letters[0].instance_id
        False
        """
        return self._ask(asked.retry_instance(instance))


class Holds(Verbs):
    """What is due and held back."""

    def list(self, *, limit: int | None = None) -> Items[Hold]:
        """Which targets and limits hold calls back, why and since when; most waiting first.

        >>> [one.reason for one in client.holds.list()]
        []
        """
        return self._pages(asked.holds(), limit)


class Backfills(Verbs):
    """Past fires that are made up for."""

    def get(self, backfill: str) -> Backfill:
        """How far a backfill has come.

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
        """A job's backfills, newest first.

        >>> [one.id for one in client.backfills.list("coupon_job")]
        []
        """
        return self._pages(asked.backfills(job), limit)

    def cancel(self, backfill: str, *, idempotency_key: str | None = None) -> Backfill:
        """Give birth to no more of it and cancel what waits; what runs may finish.

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
    """What was given up, and what can still be done about it."""

    def list(
        self,
        *,
        job: str | None = None,
        tag: str | None = None,
        error_code: str | None = None,
        status: str | None = None,
        limit: int | None = None,
    ) -> Items[DeadLetter]:
        """The dead letters, newest first.

        >>> [(one.job, one.error_msg) for one in client.dead_letters.list(job="coupon_job")]
        [('coupon_job', 'no such coupon')]
        """
        return self._pages(asked.letters(said(job=job, tag=tag, error_code=error_code, status=status)), limit)

    def replay(self, instance: str) -> Retried:
        """Send one letter again, now: a new instance with the same fire time and idempotency key.

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
        """Send many letters again, oldest first, behind what is due.

        >>> done = client.dead_letters.replay_many(job="coupon_job")
        >>> done.sent
        1
        """
        return self._ask(asked.replay_many(said(job=job, tag=tag, error_code=error_code, limit=limit)))

    def discard(self, instance: str) -> None:
        """Give one letter up for good.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> client.dead_letters.discard(letters[0].instance_id)
        >>> [one.replay_status for one in client.dead_letters.list()]
        ['DISCARDED']
        """
        return self._ask(asked.discard(instance))


class Calendars(Verbs):
    """Days that schedules share."""

    def get(self, name: str) -> Calendar:
        """One calendar.

        >>> from datetime import date
        >>> put = client.calendars.put("workdays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[1])
        >>> days = client.calendars.get("workdays")
        >>> days.weekdays
        [1]
        """
        return self._ask(asked.calendar(name))

    def list(self, *, limit: int | None = None) -> Items[Calendar]:
        """The calendars, by name.

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
        """Write a calendar; every job that uses it is planned anew before this is answered.

        >>> from datetime import date
        >>> days = client.calendars.put("paydays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[5])
        >>> days.moved
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        return self._ask(asked.put_calendar(name, body))
