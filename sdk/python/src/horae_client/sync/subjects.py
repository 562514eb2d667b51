"""Subjects: the members of a rolling job's set."""

from collections.abc import Iterable

from horae_client.asked import subjects as asked
from horae_client.models import Changed, Coverage, Subject
from horae_client.sync.verbs import Items, Verbs


class Subjects(Verbs):
    """What a rolling job refreshes in turn."""

    def add(self, job: str, keys: Iterable[str], *, at_once: bool = False) -> Changed:
        """Put keys into the set, however many; those that are in it stay as they are, so it may be said twice.

        New subjects run at the next tick, or `at_once`, which then counts.

        >>> from horae_client import Rolling
        >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = client.subjects.add("STOCK", (f"product-{n}" for n in range(2500)))
        >>> added.named, added.changed
        (2500, 2500)
        """
        named = changed = 0
        for part in asked.parts(keys):
            done = self._ask(asked.add(job, part, at_once))
            named, changed = named + done.named, changed + done.changed
        return Changed(named=named, changed=changed)

    def remove(self, job: str, keys: Iterable[str]) -> Changed:
        """Take keys out of the set. A refresh that is under way may end.

        >>> from horae_client import Rolling
        >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = client.subjects.add("STOCK", ["product-1"])
        >>> gone = client.subjects.remove("STOCK", ["product-1", "product-2"])
        >>> gone.changed
        1
        """
        named = changed = 0
        for part in asked.parts(keys):
            done = self._ask(asked.remove(job, part))
            named, changed = named + done.named, changed + done.changed
        return Changed(named=named, changed=changed)

    def list(self, job: str, *, prefix: str = "", limit: int | None = None) -> Items[Subject]:
        """The set in the order of its keys, each with its last refresh; of those alone whose key begins so.

        >>> from horae_client import Rolling
        >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = client.subjects.add("STOCK", ["b", "a"])
        >>> [one.key for one in client.subjects.list("STOCK")]
        ['a', 'b']
        """
        return self._pages(asked.subjects(job, prefix), limit)

    def coverage(self, job: str) -> Coverage:
        """Which share of the set is fresh, whether that is enough, and when it will be.

        >>> from horae_client import Rolling
        >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
        >>> added = client.subjects.add("STOCK", ["a"])
        >>> covered = client.subjects.coverage("STOCK")
        >>> covered.subjects, covered.fresh, covered.met
        (1, 0, False)
        """
        return self._ask(asked.coverage(job))
