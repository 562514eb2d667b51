"""Sources: lists of a business system with the tasks that should be pending, and the state of a round over them."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.targets.auth import Auth, check_secret_name, secrets_in
from horae.domain.targets.urls import check_url

FIRST: Final = ""
"""A text before every key."""
LAST: Final = "\U0010ffff"
"""A text after every key: keys contain printable characters only."""
LONGEST_STATEMENT: Final = 20_000
"""Characters."""
MIN_ROUND_INTERVAL_S: Final = 5
MAX_ROUND_INTERVAL_S: Final = 7 * 86_400
MAX_GRACE_S: Final = 86_400
MOST_CANCELLED: Final = 1_000_000_000
"""Tasks that one round may cancel at the most."""
LARGEST_PAGE: Final = 10_000
"""Rows of one page."""
LAST_ROUND: Final = 2**31 - 1
"""The highest number of a round."""


class HttpSource(msgspec.Struct, frozen=True, tag_field="kind", tag="http", omit_defaults=True):
    """Pages behind a URL: a request has `limit` and `cursor`, an answer `items` and `next`. Timeouts are in seconds.

    `auth`, `signing` and `ca` name secrets.
    """

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
    """Rows of a PostgreSQL; `dsn` and `ca` name secrets, `timeout` is in seconds.

    The statement takes the last key as `$1` and the number of rows as `$2`. It returns `key`, `at` and optionally
    `version` and `payload`, in the byte order of the keys (`collate "C"`).
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
    """The business system pushes its pages to the API; no node fetches them."""


From = HttpSource | SqlSource | PushSource


def secrets_of(origin: From) -> list[str]:
    """Return the names of the secrets that fetching needs."""
    match origin:
        case HttpSource():
            return secrets_in(origin.auth, origin.signing, origin.ca)
        case SqlSource():
            return secrets_in(None, origin.dsn, origin.ca)
        case PushSource():
            return []


class Orphans(StrEnum):
    """What happens to a live task that the source does not list."""

    KEEP = "keep"
    CANCEL = "cancel"


class Spec(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person defines about a source.

    `every` is the pause between two rounds, `grace` how long a task must be unchanged before it is repaired without a
    version; both in seconds. `most_cancelled` is how many orphans a round may cancel.
    """

    origin: From
    every: float = 300.0
    grace: float = 60.0
    orphans: Orphans = Orphans.KEEP
    most_cancelled: int = 1000

    def __post_init__(self) -> None:
        if not MIN_ROUND_INTERVAL_S <= self.every <= MAX_ROUND_INTERVAL_S:
            raise Invalid(f"every is {MIN_ROUND_INTERVAL_S:g} to {MAX_ROUND_INTERVAL_S:g} seconds")
        if not 0 <= self.grace <= MAX_GRACE_S:
            raise Invalid(f"grace is 0 to {MAX_GRACE_S:g} seconds")
        if not 0 < self.most_cancelled <= MOST_CANCELLED:
            raise Invalid("most_cancelled is at least 1")


class RoundCounts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The counts of a round: rows of both sides, differences, repairs, and differences that were left, by reason."""

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
        """How many tasks differ from the source's list."""
        return self.missing + self.drifted + self.orphans

    def plus(self, more: Mapping[str, int]) -> "RoundCounts":
        """Return the counts with more added."""
        return msgspec.structs.replace(self, **{name: getattr(self, name) + many for name, many in more.items()})


class RoundStatus(StrEnum):
    """The status of a round."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    STOPPED = "STOPPED"  # another round replaced it


class SourceRound(msgspec.Struct, frozen=True, kw_only=True):
    """One pass over all keys of a source."""

    number: int
    dry: bool
    status: RoundStatus
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    counts: RoundCounts = RoundCounts()


class TaskSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as stored: its spec, and the progress of its round."""

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
