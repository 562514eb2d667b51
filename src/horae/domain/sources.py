"""Sources: a business system lists what should be pending of a type. Where it does, and how far a round has come."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.auth import Auth, check_secret_name, secrets_in
from horae.domain.errors import Invalid
from horae.domain.urls import check_url

FIRST: Final = ""
"""Before every key."""
LAST: Final = "\U0010ffff"
"""Behind every key: no key holds a character that cannot be printed."""
LONGEST_STATEMENT: Final = 20_000
SHORTEST_EVERY, LONGEST_EVERY = 5.0, 7 * 86400.0
LONGEST_GRACE: Final = 86400.0
LARGEST_PAGE: Final = 10_000
LAST_ROUND: Final = 2**31 - 1


class HttpSource(msgspec.Struct, frozen=True, tag_field="kind", tag="http", omit_defaults=True):
    """Pages behind a URL: asked with `limit` and `cursor`, answered with `items` and `next`. Secrets are named."""

    url: str
    auth: Auth | None = None
    signing: str | None = None
    ca: str | None = None
    page: int = 500
    connect_timeout: float = 3.0
    read_timeout: float = 10.0

    def __post_init__(self) -> None:
        check_url(self.url)
        for name in (self.signing, self.ca):
            if name is not None:
                check_secret_name(name)
        if not (0 < self.connect_timeout <= 30 and 0 < self.read_timeout <= 30):
            raise Invalid("connect_timeout and read_timeout lie above 0 and at most at 30 seconds")
        _check_page(self.page)


class SqlSource(msgspec.Struct, frozen=True, tag_field="kind", tag="sql", omit_defaults=True):
    """Rows of a PostgreSQL: `dsn` and `ca` name secrets.

    The statement takes the last key as `$1` and how many rows as `$2`; it gives `key`, `at` and, where there are any,
    `version` and `payload`, in the order of the keys' bytes (`collate "C"`).
    """

    dsn: str
    statement: str
    ca: str | None = None
    page: int = 5000
    timeout: float = 10.0

    def __post_init__(self) -> None:
        for name in (self.dsn, self.ca):
            if name is not None:
                check_secret_name(name)
        if not 0 < len(self.statement) <= LONGEST_STATEMENT:
            raise Invalid(f"a source's statement has 1 to {LONGEST_STATEMENT} characters")
        if "$1" not in self.statement or "$2" not in self.statement:
            raise Invalid("a source's statement takes the last key as $1 and the size of a page as $2")
        if not 0 < self.timeout <= 30:
            raise Invalid("a source's timeout lies above 0 and at most at 30 seconds")
        _check_page(self.page)


class PushSource(msgspec.Struct, frozen=True, tag_field="kind", tag="push", omit_defaults=True):
    """The business pushes its pages itself; no node asks for them."""


From = HttpSource | SqlSource | PushSource


def secrets_of(origin: From) -> list[str]:
    """The names of the secrets without which it cannot be asked."""
    match origin:
        case HttpSource():
            return secrets_in(origin.auth, origin.signing, origin.ca)
        case SqlSource():
            return secrets_in(None, origin.dsn, origin.ca)
        case PushSource():
            return []


class Orphans(StrEnum):
    """What becomes of a task that the source does not list."""

    KEEP = "keep"
    CANCEL = "cancel"


class Spec(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person writes down about a source.

    `every` is the pause between two rounds in seconds, `grace` how long something must have been still before it is
    touched without the proof of a version, `most_cancelled` how many orphans a round may cancel.
    """

    origin: From
    every: float = 300.0
    grace: float = 60.0
    orphans: Orphans = Orphans.KEEP
    most_cancelled: int = 1000

    def __post_init__(self) -> None:
        if not SHORTEST_EVERY <= self.every <= LONGEST_EVERY:
            raise Invalid(f"every is {SHORTEST_EVERY:g} to {LONGEST_EVERY:g} seconds")
        if not 0 <= self.grace <= LONGEST_GRACE:
            raise Invalid(f"grace is 0 to {LONGEST_GRACE:g} seconds")
        if not 0 < self.most_cancelled <= 1_000_000_000:
            raise Invalid("most_cancelled is at least 1")


class Counts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a round has seen: rows of each side, differences, what was done about them, and what was left and why."""

    rows: int = 0
    living: int = 0
    missing: int = 0
    drifted: int = 0
    orphans: int = 0
    created: int = 0
    moved: int = 0
    cancelled: int = 0
    recent: int = 0
    stale: int = 0
    succeeded: int = 0
    dead: int = 0
    under_way: int = 0
    kept: int = 0
    too_many: int = 0
    refused: int = 0

    @property
    def drift(self) -> int:
        """How many tasks were not as the business has it."""
        return self.missing + self.drifted + self.orphans

    def plus(self, more: Mapping[str, int]) -> "Counts":
        """The same with what was seen since."""
        return msgspec.structs.replace(self, **{name: getattr(self, name) + many for name, many in more.items()})


class RoundStatus(StrEnum):
    """How it stands with a round."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    STOPPED = "STOPPED"  # another began in its place


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One walk over all keys of a source."""

    number: int
    dry: bool
    status: RoundStatus
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    counts: Counts = Counts()


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A source as its row has it: what was written down, and how far its round has come."""

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    name: str
    spec: Spec
    revision: int = 1
    changed_at: datetime
    changed_by: str = ""
    next_at: datetime | None = None
    step: int = 1
    round: int = 0
    running: bool = False
    dry: bool = False
    asked: str | None = None
    pushed: str | None = None
    after: str = FIRST
    cursor: str | None = None
    failures: int = 0
    paused_at: datetime | None = None


def _check_page(page: int) -> None:
    if not 0 < page <= LARGEST_PAGE:
        raise Invalid(f"a page has 1 to {LARGEST_PAGE} rows")
