"""Instances, and what holds them back."""

from collections.abc import Sequence
from datetime import datetime

from horae_client import keys
from horae_client.asked import explanations as explained
from horae_client.asked import instances as asked
from horae_client.models import Explanation, Hold, Instance, InstanceResult, LogLine, Retried
from horae_client.sync.verbs import Events, Items, Verbs


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

    def logs(self, instance: str, *, limit: int | None = None) -> Items[LogLine]:
        """List the lines that the attempts of an instance logged, oldest first. `limit` is the size of a page.

        >>> made = client.jobs.trigger("coupon_job")
        >>> [line.text for line in client.instances.logs(made.instance_id)]
        []
        """
        return self._pages(asked.log_lines(instance), limit)

    def tail(self, instance: str) -> Events[LogLine]:
        """Follow the lines of an instance as they are written, from the first one on, until the instance ends.

        A broken connection is made again, without a line missing or repeated.

        >>> letters = [one for one in client.dead_letters.list()]
        >>> [line.text for line in client.instances.tail(letters[0].instance_id)]
        []
        """
        return self._events(asked.tail(instance))

    def result(self, instance: str) -> InstanceResult:
        """Get what an instance returned. It raises `errors.NotFound` if it has not ended, or returned nothing.

        >>> from horae_client import errors
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     result = client.instances.result(made.instance_id)
        ... except errors.NotFound:
        ...     print("no result yet")
        no result yet
        """
        return self._ask(asked.result(instance))

    def explain(self, instance: str, *, lang: str | None = None) -> Explanation:
        """Explain what an instance waits for, or how it ended, in sentences; `lang` is "en" or "zh".

        >>> made = client.jobs.trigger("coupon_job")
        >>> why = client.instances.explain(made.instance_id, lang="zh")
        >>> why.kind, why.language
        ('instance', 'zh')
        """
        return self._ask(explained.instance(instance, lang))

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
