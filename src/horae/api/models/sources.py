"""Sources as they are put, shown and pushed to."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, Moment, Number, Payload, Shown, Told
from horae.api.models.targets import Auth, SecretName, Timeout, Url
from horae.domain.comparisons import Found, Repair, Wanted
from horae.domain.ids import Prefix, public
from horae.domain.sources import LARGEST_PAGE, LONGEST_STATEMENT, Counts, Orphans, Round, RoundStatus, Source, Spec
from horae.domain.tasks import LONGEST_KEY
from horae.service import sources
from horae.service.source_pages import LARGEST, LONGEST_ROUND, Pushed, Taken

PageSize = Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE)]
Key = Annotated[str, Field(strict=True, max_length=LONGEST_KEY)]


class HttpOrigin(Told):
    """Pages behind a URL: we POST `type`, `cursor` and `limit`, signed; it answers `items` and `next`."""

    kind: Literal["http"]
    url: Url
    auth: Auth | None = None
    signing: SecretName | None = None
    ca: SecretName | None = None
    page: PageSize = 500
    connect_timeout: Timeout = 3.0
    read_timeout: Timeout = 10.0


class SqlOrigin(Told):
    """Rows of your PostgreSQL. `dsn` and `ca` name secrets; the statement takes the last key `$1` and a size `$2`."""

    kind: Literal["sql"]
    dsn: SecretName
    statement: Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_STATEMENT)]
    ca: SecretName | None = None
    page: PageSize = 5000
    timeout: Timeout = 10.0


class PushOrigin(Told):
    """You push the pages yourself."""

    kind: Literal["push"]


Origin = Annotated[HttpOrigin | SqlOrigin | PushOrigin, Field(discriminator="kind")]


class PutSource(Told):
    """Where the tasks of a type are listed, and what may be done about what differs."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "origin": {"kind": "http", "url": "https://shop.example.com/pending", "signing": "shop-signing"},
                    "every": 300,
                    "orphans": "cancel",
                }
            ]
        }
    )

    origin: Origin
    every: Annotated[Number, Field(ge=5, le=7 * 86400, description="Seconds between two rounds.")] = 300.0
    grace: Annotated[
        Number, Field(ge=0, le=86400, description="What changed since so many seconds is left to the next round.")
    ] = 60.0
    orphans: Annotated[Orphans, Field(description="What becomes of a task that is not listed.")] = Orphans.KEEP
    most_cancelled: Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)] = 1000

    def spec(self) -> Spec:
        """What was asked for."""
        return msgspec.convert(self.model_dump(mode="json"), Spec)


class RoundView(Shown):
    """One walk over all keys. `drift` is how many tasks were not as the business has it."""

    number: int
    dry: bool
    status: RoundStatus
    began_at: datetime
    ended_at: datetime | None
    error: str | None
    drift: int
    counts: dict[str, int]

    @classmethod
    def of(cls, round_: Round) -> "RoundView":
        """A round as it is shown."""
        facts = {name: getattr(round_, name) for name in round_.__struct_fields__ if name != "counts"}
        return cls(**facts, drift=round_.counts.drift, counts=_counts(round_.counts))


class SourceView(Shown):
    """A source and how far it is. `after` is the last key that the round under way has compared.

    `round` is the number of its last round, 0 before the first: a round that was asked for will have the next number.
    """

    id: str
    type: str
    revision: int
    spec: dict[str, Any]
    changed_at: datetime
    changed_by: str
    running: bool
    round: int
    after: str | None
    next_at: datetime | None
    failures: int
    paused_at: datetime | None
    drift: int
    last: RoundView | None

    @classmethod
    def of(cls, shown: sources.Shown) -> "SourceView":
        """A source as it is shown."""
        source, last = shown
        return cls(
            id=public(Prefix.SOURCE, source.id),
            type=source.name,
            revision=source.revision,
            spec=msgspec.to_builtins(source.spec),
            changed_at=source.changed_at,
            changed_by=source.changed_by,
            running=source.running,
            round=source.round,
            after=source.after if source.running else None,
            next_at=source.next_at,
            failures=source.failures,
            paused_at=source.paused_at,
            drift=last.counts.drift if last else 0,
            last=RoundView.of(last) if last else None,
        )

    @classmethod
    def alone(cls, source: Source) -> "SourceView":
        """The same where nobody asked for its rounds."""
        return cls.of(sources.Shown(source, None))


class AskRound(Told):
    """A round from the first key on. A dry one writes down what it finds, and changes nothing."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dry": True}]})

    dry: Flag = False


class RepairView(Shown):
    """A difference and what was done about it; no decision: it was found by a dry round."""

    id: str
    at: datetime
    round: int
    key: str
    found: Found
    decision: str | None
    ours: datetime | None
    theirs: datetime | None

    @classmethod
    def of(cls, repair: Repair) -> "RepairView":
        """A repair as it is shown."""
        return cls(**repair._asdict() | {"id": str(repair.id)})


class Listed(Told):
    """A key that should be pending at a time."""

    key: Key
    at: Moment
    version: Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)] | None = None
    payload: Payload = None

    def wanted(self) -> Wanted:
        """What was meant; a payload that was not given stays as it is."""
        payload = self.payload if "payload" in self.model_fields_set else msgspec.UNSET
        return Wanted(self.key, self.at, self.version, payload)


class PushPage(Told):
    """A page of a round, in the order of the keys' bytes, behind the last key of the page before."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"round": "2026-11-15T09", "items": [{"key": "article-42", "at": "2026-11-15T10:00:00Z"}], "last": True}
            ]
        }
    )

    round: Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_ROUND)]
    items: Annotated[list[Listed], Field(max_length=LARGEST)] = []
    after: Annotated[Key, Field(description="The last key of the page before; empty for the first.")] = ""
    last: Annotated[Flag, Field(description="Nothing comes behind this page.")] = False
    dry: Flag = False

    def pushed(self) -> Pushed:
        """What was pushed."""
        return Pushed(self.round, [one.wanted() for one in self.items], self.after, self.last, self.dry)


class TakenView(Shown):
    """How far the pushed round has come, and what it has seen so far."""

    number: int
    reached: str | None
    ended: bool
    drift: int
    counts: dict[str, int]

    @classmethod
    def of(cls, taken: Taken) -> "TakenView":
        """What came of a page."""
        reached = None if taken.ended else taken.reached
        counts = _counts(taken.counts)
        return cls(number=taken.number, reached=reached, ended=taken.ended, drift=taken.counts.drift, counts=counts)


def _counts(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in counts.__struct_fields__}
