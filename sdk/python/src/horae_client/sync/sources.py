"""Sources: your own lists of the tasks that should be pending."""

from collections.abc import Iterable

from horae_client import keys
from horae_client.asked import sources as asked
from horae_client.models import Repair, Round, Source, Taken
from horae_client.specs import Listed, Origin
from horae_client.sync.verbs import Items, Verbs
from horae_client.wire import said


class Sources(Verbs):
    """The sources of types, and what was repaired with them."""

    def put(
        self,
        type: str,
        origin: Origin,
        *,
        every: float | None = None,
        grace: float | None = None,
        orphans: str | None = None,
        most_cancelled: int | None = None,
        idempotency_key: str | None = None,
    ) -> Source:
        """Set the source of a type, which lists its tasks. It replaces an older source.

        `orphans` is `keep` or `cancel`: what happens to a task that is not listed. A task that changed within the last
        `grace` seconds is left to the next round, unless the version of an event proves which side is newer.

        >>> from horae_client import PushOrigin
        >>> source = client.sources.put("ARTICLE_PUBLISH", PushOrigin(), orphans="cancel")
        >>> source.type, source.spec["orphans"]
        ('ARTICLE_PUBLISH', 'cancel')
        """
        facts = said(every=every, grace=grace, orphans=orphans, most_cancelled=most_cancelled)
        return self._ask(asked.put(type, origin, facts, keys.made(idempotency_key)))

    def get(self, type: str) -> Source:
        """Get one source: its definition, and how its last round went.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> source = client.sources.get("ARTICLE_PUBLISH")
        >>> source.spec["origin"], source.drift
        ({'kind': 'push'}, 0)
        """
        return self._ask(asked.get(type))

    def list(self, *, limit: int | None = None) -> Items[Source]:
        """List all sources, by the name of their type.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> [one.type for one in client.sources.list()]
        ['ARTICLE_PUBLISH']
        """
        return self._pages(asked.sources(), limit)

    def push(self, type: str, round: str, items: Iterable[Listed], *, dry: bool = False) -> Taken:
        """Push a whole round: all tasks that should be pending, ordered by the bytes of their keys, each key once.

        Give each round a name of its own. Pages are compared as they arrive, so a list of any length can be streamed. A
        missing task is created, a task with another time is moved, and a task that is not listed is cancelled if that
        is allowed.

        >>> from datetime import UTC, datetime
        >>> from horae_client import Listed, PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> nine = datetime(2035, 1, 1, 9, tzinfo=UTC)
        >>> listed = [Listed("a-1", nine), Listed("a-2", nine)]
        >>> taken = client.sources.push("ARTICLE_PUBLISH", "2035-01-01", listed)
        >>> taken.ended, taken.counts["created"]
        (True, 2)
        """
        for page, after, last in asked.pages(items):
            taken = self._ask(asked.push(type, round, page, after, last, dry))
        return taken

    def run(self, type: str, *, dry: bool = False, idempotency_key: str | None = None) -> Source:
        """Request a round now. A dry round finds differences and changes nothing.

        >>> from horae_client import HttpOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", HttpOrigin("https://shop.example.com/pending"))
        >>> source = client.sources.run("ARTICLE_PUBLISH", dry=True)
        >>> source.type
        'ARTICLE_PUBLISH'
        """
        return self._ask(asked.run(type, dry, keys.made(idempotency_key)))

    def pause(self, type: str) -> Source:
        """Pause a source: nothing is repaired, and a running round stops. Dry rounds still run.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> paused = client.sources.pause("ARTICLE_PUBLISH")
        >>> paused.paused_at is None
        False
        """
        return self._ask(asked.verb(type, "pause"))

    def resume(self, type: str) -> Source:
        """Resume a source with a new round from the first key.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> paused = client.sources.pause("ARTICLE_PUBLISH")
        >>> resumed = client.sources.resume("ARTICLE_PUBLISH")
        >>> resumed.paused_at is None
        True
        """
        return self._ask(asked.verb(type, "resume"))

    def rounds(self, type: str, *, limit: int | None = None) -> Items[Round]:
        """List a source's rounds, newest first.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> taken = client.sources.push("ARTICLE_PUBLISH", "first", [])
        >>> [one.status for one in client.sources.rounds("ARTICLE_PUBLISH")]
        ['DONE']
        """
        return self._pages(asked.rounds(type), limit)

    def repairs(self, type: str, *, round: int | None = None, limit: int | None = None) -> Items[Repair]:
        """List what rounds found and did, newest first; for a dry round, what it would have done.

        >>> from datetime import UTC, datetime
        >>> from horae_client import Listed, PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> nine = datetime(2035, 1, 1, 9, tzinfo=UTC)
        >>> taken = client.sources.push("ARTICLE_PUBLISH", "first", [Listed("a-1", nine)], dry=True)
        >>> [(one.key, one.found, one.decision) for one in client.sources.repairs("ARTICLE_PUBLISH")]
        [('a-1', 'missing', None)]
        """
        return self._pages(asked.repairs(type, round), limit)

    def remove(self, type: str) -> Source:
        """Remove a source: its tasks are no longer compared and stay as they are.

        >>> from horae_client import PushOrigin
        >>> put = client.sources.put("ARTICLE_PUBLISH", PushOrigin())
        >>> gone = client.sources.remove("ARTICLE_PUBLISH")
        >>> gone.type
        'ARTICLE_PUBLISH'
        """
        return self._ask(asked.remove(type))
