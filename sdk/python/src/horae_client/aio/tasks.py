"""Tasks: a time for a business key."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import UNSET

from horae_client.aio.verbs import AsyncVerbs
from horae_client.asked import explanations as explained
from horae_client.asked import tasks as asked
from horae_client.models import Decision, Explanation, Task, TaskAnswer
from horae_client.specs import Cancel, Put


class AsyncTasks(AsyncVerbs):
    """The tasks of business keys."""

    async def schedule(
        self,
        type: str,
        key: str,
        *,
        at: datetime | None = None,
        payload: Any = UNSET,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """Set the time of a key: created, moved, replaced or ignored, as the answer says.

        Repeating the call changes nothing. Without `at` the task is due now. `version` is the version of your own
        event: an event that is not newer than the last one is ignored, so events may arrive out of order. A moved task
        keeps its payload unless a new one is given. With an `idempotency_key` the call takes effect once, whatever
        happens in between.

        >>> from datetime import UTC, datetime
        >>> nine = datetime(2035, 1, 1, 9, tzinfo=UTC)
        >>> made = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42", at=nine, payload={"title": "x"})
        >>> made.decision
        'created'
        >>> moved = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42", at=nine.replace(hour=10))
        >>> moved.decision, moved.instance_id == made.instance_id
        ('moved', True)
        """
        return await self._ask(asked.schedule(type, key, at, payload, version, idempotency_key))

    async def schedule_many(self, type: str, tasks: Iterable[Put]) -> list[TaskAnswer]:
        """Set the times of many keys; each has its own decision, in the order of the input.

        >>> from horae_client import Put
        >>> answers = await client.tasks.schedule_many("ARTICLE_PUBLISH", [Put("a-1"), Put("a-2", version=7)])
        >>> [(one.key, one.answer.decision) for one in answers]
        [('a-1', 'created'), ('a-2', 'created')]
        """
        found: list[TaskAnswer] = []
        for request in asked.schedule_many(type, list(tasks)):
            answers = await self._ask(request)
            found += answers.items
        return found

    async def cancel(
        self, type: str, key: str, *, version: int | None = None, idempotency_key: str | None = None
    ) -> Decision:
        """Cancel a key's task. A call in flight is not aborted, but its late result is refused.

        >>> put = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> gone = await client.tasks.cancel("ARTICLE_PUBLISH", "article-42")
        >>> gone.decision
        'cancelled'
        """
        return await self._ask(asked.cancel(type, key, version, idempotency_key))

    async def cancel_many(self, type: str, keys: Iterable[str | Cancel]) -> list[TaskAnswer]:
        """Cancel the tasks of many keys; each has its own answer.

        >>> put = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> answers = await client.tasks.cancel_many("ARTICLE_PUBLISH", ["article-42", "article-43"])
        >>> [(one.key, one.answer.decision if one.answer else one.problem.code) for one in answers]
        [('article-42', 'cancelled'), ('article-43', 'SCH_404_NOT_FOUND')]
        """
        found: list[TaskAnswer] = []
        for request in asked.cancel_many(type, [Cancel(one) if isinstance(one, str) else one for one in keys]):
            answers = await self._ask(request)
            found += answers.items
        return found

    async def explain(self, type: str, key: str, *, lang: str | None = None) -> Explanation:
        """Explain why the task of a key has or has not run, in sentences; `lang` is "en" or "zh".

        >>> put = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> why = await client.tasks.explain("ARTICLE_PUBLISH", "article-42")
        >>> [one.facts["decision"] for one in why.findings if one.code == "DECIDED"]
        ['created']
        """
        return await self._ask(explained.task(type, key, lang))

    async def get(self, type: str, key: str) -> Task:
        """Get the state of a key: its live task, and the last twenty decisions.

        >>> put = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> task = await client.tasks.get("ARTICLE_PUBLISH", "article-42")
        >>> task.live.state, [one.decision for one in task.decisions]
        ('INIT', ['created'])
        """
        return await self._ask(asked.get(type, key))
