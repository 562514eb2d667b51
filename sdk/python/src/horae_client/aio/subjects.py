"""Subjects: the members of a rolling job's set."""

from collections.abc import Iterable

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import explanations as explained
from horae_client.asked import subjects as asked
from horae_client.models import Changed, Coverage, Explanation, Subject


class AsyncSubjects(AsyncVerbs):
    """The subjects that a rolling job refreshes in turn."""

    async def add(self, job: str, keys: Iterable[str], *, at_once: bool = False) -> Changed:
        """Add any number of keys to the set. Keys that are in it do not change, so it is safe to repeat.

        New subjects run at the next tick, or now with `at_once`; that run then counts as their refresh.

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.add("STOCK", (f"product-{n}" for n in range(2500)))
        >>> added.named, added.changed
        (2500, 2500)
        """
        named = changed = 0
        for part in asked.parts(keys):
            done = await self._ask(asked.add(job, part, at_once))
            named, changed = named + done.named, changed + done.changed
        return Changed(named=named, changed=changed)

    async def import_keys(self, job: str, keys: Iterable[str], *, at_once: bool = False) -> Changed:
        """Add very many keys to the set with few requests. After an error, import them again.

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.import_keys("STOCK", (f"product-{n}" for n in range(2500)))
        >>> added.named, added.changed
        (2500, 2500)
        """
        named = changed = 0
        for part in asked.imported_parts(keys):
            done = await self._ask(asked.import_keys(job, part, at_once))
            named, changed = named + done.named, changed + done.changed
        return Changed(named=named, changed=changed)

    async def remove(self, job: str, keys: Iterable[str]) -> Changed:
        """Remove keys from the set. A refresh under way may finish.

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.add("STOCK", ["product-1"])
        >>> gone = await client.subjects.remove("STOCK", ["product-1", "product-2"])
        >>> gone.changed
        1
        """
        named = changed = 0
        for part in asked.parts(keys):
            done = await self._ask(asked.remove(job, part))
            named, changed = named + done.named, changed + done.changed
        return Changed(named=named, changed=changed)

    async def explain(self, job: str, key: str, *, lang: str | None = None) -> Explanation:
        """Explain why a subject was or was not refreshed, in sentences; `lang` is "en" or "zh".

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.add("STOCK", ["product-1"])
        >>> why = await client.subjects.explain("STOCK", "product-1")
        >>> why.kind, why.subject
        ('subject', 'STOCK/product-1')
        """
        return await self._ask(explained.subject(job, key, lang))

    def list(
        self,
        job: str,
        *,
        prefix: str = "",
        status: int | None = None,
        batch_no: str | None = None,
        limit: int | None = None,
    ) -> AsyncItems[Subject]:
        """List the set by key, each with its last refresh: keys that begin with `prefix`, of one status, of one batch.

        A status is 0 (never run), 1 (running), 2 (the last refresh succeeded) or 3 (it failed).

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.add("STOCK", ["b", "a"])
        >>> [one.key async for one in client.subjects.list("STOCK")]
        ['a', 'b']
        >>> [one.key async for one in client.subjects.list("STOCK", status=3)]
        []
        """
        return self._pages(asked.subjects(job, prefix, status, batch_no), limit)

    async def coverage(self, job: str) -> Coverage:
        """Get the share of the set that is fresh, whether that is enough, and when it is expected to be.

        >>> from horae_client import Rolling
        >>> job = await client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = await client.subjects.add("STOCK", ["a"])
        >>> covered = await client.subjects.coverage("STOCK")
        >>> covered.subjects, covered.fresh, covered.met
        (1, 0, False)
        """
        return await self._ask(asked.coverage(job))
