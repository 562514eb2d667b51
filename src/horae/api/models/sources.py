"""Models of sources: lists of the tasks that should exist."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, Moment, Number, Payload, RequestModel, ResponseModel
from horae.api.models.targets import Auth, SecretName, Timeout, Url
from horae.domain.ids import Prefix, public
from horae.domain.sources.comparisons import DifferenceKind, ListedTask, Repair
from horae.domain.sources.sources import (
    LARGEST_PAGE,
    LONGEST_STATEMENT,
    MAX_GRACE_S,
    MAX_ROUND_INTERVAL_S,
    MIN_ROUND_INTERVAL_S,
    MOST_CANCELLED,
    Orphans,
    RoundCounts,
    RoundStatus,
    SourceRound,
    Spec,
    TaskSource,
)
from horae.domain.tasks.tasks import LONGEST_KEY
from horae.service.sources import sources
from horae.service.sources.pushed_pages import LARGEST, LONGEST_ROUND, PageProgress, PushedPage

PageSize = Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE)]
Key = Annotated[str, Field(strict=True, max_length=LONGEST_KEY)]


class HttpOrigin(RequestModel):
    """Pages from a URL. Horae sends a signed POST with `type`, `cursor` and `limit`; `items` and `next` come back."""

    kind: Literal["http"]
    url: Url
    auth: Auth | None = None
    signing: SecretName | None = None
    ca: SecretName | None = None
    page: PageSize = 500
    connect_timeout: Timeout = 3.0
    read_timeout: Timeout = 10.0


class SqlOrigin(RequestModel):
    """Rows of your PostgreSQL. `dsn` and `ca` name secrets. The statement takes the last key `$1` and a limit `$2`."""

    kind: Literal["sql"]
    dsn: SecretName
    statement: Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_STATEMENT)]
    ca: SecretName | None = None
    page: PageSize = 5000
    timeout: Timeout = 10.0


class PushOrigin(RequestModel):
    """Pages that you push to Horae."""

    kind: Literal["push"]


Origin = Annotated[HttpOrigin | SqlOrigin | PushOrigin, Field(discriminator="kind")]


class PutSource(RequestModel):
    """The source of a task type, and what happens with differences."""

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
    every: Annotated[
        Number, Field(ge=MIN_ROUND_INTERVAL_S, le=MAX_ROUND_INTERVAL_S, description="Seconds between two rounds.")
    ] = 300.0
    grace: Annotated[
        Number,
        Field(ge=0, le=MAX_GRACE_S, description="Tasks that changed within these seconds are left to the next round."),
    ] = 60.0
    orphans: Annotated[Orphans, Field(description="What happens with tasks that are not listed.")] = Orphans.KEEP
    most_cancelled: Annotated[
        int, Field(strict=True, ge=1, le=MOST_CANCELLED, description="Maximum number of tasks that one round cancels.")
    ] = 1000

    def spec(self) -> Spec:
        """Returns the specification of the domain."""
        return msgspec.convert(self.model_dump(mode="json"), Spec)


class SourceRoundView(ResponseModel):
    """One comparison of all keys. `drift` is the number of tasks that differed from the source."""

    number: int
    dry: bool
    status: RoundStatus
    began_at: datetime
    ended_at: datetime | None
    error: str | None
    drift: int
    counts: dict[str, int]

    @classmethod
    def of(cls, round_: SourceRound) -> "SourceRoundView":
        """Returns the view of a round."""
        facts = {name: getattr(round_, name) for name in round_.__struct_fields__ if name != "counts"}
        return cls(**facts, drift=round_.counts.drift, counts=_counts(round_.counts))


class SourceView(ResponseModel):
    """A source and the progress of its round. `after` is the last key that the running round has compared.

    `round` is the number of its last round, 0 before the first. A requested round gets the next number.
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
    last: SourceRoundView | None

    @classmethod
    def of(cls, detail: sources.SourceDetail) -> "SourceView":
        """Returns the view of a source."""
        source, last = detail
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
            last=SourceRoundView.of(last) if last else None,
        )

    @classmethod
    def alone(cls, source: TaskSource) -> "SourceView":
        """Returns the view of a source without its last round."""
        return cls.of(sources.SourceDetail(source, None))


class StartRound(RequestModel):
    """Start a round from the first key. A dry round records differences and changes nothing."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dry": True}]})

    dry: Flag = False


class RepairView(ResponseModel):
    """A difference and its repair. `decision` is null for a difference that a dry round found."""

    id: str
    at: datetime
    round: int
    key: str
    found: DifferenceKind
    decision: str | None
    ours: datetime | None
    theirs: datetime | None

    @classmethod
    def of(cls, repair: Repair) -> "RepairView":
        """Returns the view of a repair."""
        return cls(**repair._asdict() | {"id": str(repair.id)})


class SourceItem(RequestModel):
    """A business key and the time at which its task should be due."""

    key: Key
    at: Moment
    version: Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)] | None = None
    payload: Payload = None

    def to_domain(self) -> ListedTask:
        """Returns the task of the domain. An omitted payload is kept."""
        payload = self.payload if "payload" in self.model_fields_set else msgspec.UNSET
        return ListedTask(self.key, self.at, self.version, payload)


class PushSourcePage(RequestModel):
    """A page of a round. Keys are in byte order and follow the last key of the previous page."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"round": "2026-11-15T09", "items": [{"key": "article-42", "at": "2026-11-15T10:00:00Z"}], "last": True}
            ]
        }
    )

    round: Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_ROUND)]
    items: Annotated[list[SourceItem], Field(max_length=LARGEST)] = []
    after: Annotated[Key, Field(description="The last key of the previous page; empty for the first page.")] = ""
    last: Annotated[Flag, Field(description="Whether this is the last page of the round.")] = False
    dry: Flag = False

    def to_service(self) -> PushedPage:
        """Returns the page of the service."""
        return PushedPage(self.round, [one.to_domain() for one in self.items], self.after, self.last, self.dry)


class PageProgressView(ResponseModel):
    """The progress of a pushed round, and its counts so far."""

    number: int
    reached: str | None
    ended: bool
    drift: int
    counts: dict[str, int]

    @classmethod
    def of(cls, taken: PageProgress) -> "PageProgressView":
        """Returns the view of the progress."""
        reached = None if taken.ended else taken.reached
        counts = _counts(taken.counts)
        return cls(number=taken.number, reached=reached, ended=taken.ended, drift=taken.counts.drift, counts=counts)


def _counts(counts: RoundCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in counts.__struct_fields__}
