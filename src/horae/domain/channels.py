"""Ways that events take: out, to what subscribed to them, and in, from the topics that schedule changes come by.

A tenant names a broker of the deployment and a topic on it; it never names an address. Which topics are a tenant's own
the deployment says (`Broker.topics`), so that nobody reads or writes another's.

A pattern with `{tenant}` never opens the topics of two tenants, whatever they are called: `acme` has `acme.orders`, and
`acme.eu.orders` is of `acme.eu` alone.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.auth import check_secret_name
from horae.domain.egress import Egress
from horae.domain.errors import Invalid
from horae.domain.events import Event
from horae.domain.tenants import SYSTEM
from horae.domain.urls import check_url

TOPIC: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
MOST_FILTERS: Final = 50
TENANT: Final = "{tenant}"
PIECES: Final = re.compile(r"\{tenant\}|.", re.DOTALL)
WILD_BESIDE_TENANT: Final = re.compile(r"[*?]\{tenant\}|\{tenant\}[*?]")
BESIDE_TENANT: Final = re.compile(r"(.?)\{tenant\}(.?)", re.DOTALL)


class Broker(NamedTuple):
    """A broker of the deployment as tenants know it: its kind, and which topics are whose."""

    kind: str
    topics: tuple[str, ...]

    def opens(self, tenant: str, topic: str) -> bool:
        """Whether a topic is the tenant's. The platform's own tenant may use any."""
        return tenant == SYSTEM or any(_opens(pattern, tenant, topic) for pattern in self.topics)


Brokers = Mapping[str, Broker]


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that would open topics to two tenants: a wildcard may stand for the rest of a longer name."""
    if WILD_BESIDE_TENANT.search(pattern):
        raise Invalid(f"in the pattern {pattern!r} something that is no wildcard must be beside {TENANT}")


def _opens(pattern: str, tenant: str, topic: str) -> bool:
    """Whether a pattern opens a topic to a tenant.

    1. Without `{tenant}` it opens the same topics to everyone, and `*` stands for anything.
    2. With it the tenant's name stands for itself: no character of it is a wildcard.
    3. `*` then stands for one part: it holds no dot, and no character that is beside `{tenant}` in the pattern. What
       follows a name is therefore never the rest of a longer name.
    """
    if TENANT not in pattern:
        return fnmatchcase(topic, pattern)
    return re.fullmatch(_own_topics(pattern).replace(TENANT, re.escape(tenant)), topic) is not None


@lru_cache(maxsize=1000)
def _own_topics(pattern: str) -> str:
    """A regular expression in which `{tenant}` is still to be replaced."""
    beside = {"."} | {mark for pair in BESIDE_TENANT.findall(pattern) for mark in pair if mark and mark not in "*?"}
    part = f"[^{re.escape(''.join(sorted(beside)))}]"
    wild = {"*": f"{part}+", "?": part, TENANT: TENANT}
    return "".join(wild.get(one) or re.escape(one) for one in PIECES.findall(pattern))


class Topic(msgspec.Struct, frozen=True, tag_field="kind", tag="topic"):
    """A topic, subject or queue of a broker."""

    broker: str
    topic: str

    def __post_init__(self) -> None:
        if not TOPIC.fullmatch(self.topic):
            raise Invalid("a topic has 1 to 200 letters, digits, dots, hyphens and underscores")


class Webhook(msgspec.Struct, frozen=True, tag_field="kind", tag="webhook", omit_defaults=True):
    """A URL that takes batches of events, signed with the secret of this name."""

    url: str
    signing: str

    def __post_init__(self) -> None:
        check_url(self.url)
        check_secret_name(self.signing)


Sink = Topic | Webhook


NAMES: Final = frozenset(str(event) for event in Event)


def _fits(event: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(event, pattern) for pattern in patterns)


@lru_cache(maxsize=10_000)
def _wanted(patterns: tuple[str, ...]) -> frozenset[str]:
    """The events that some patterns name, found once: a page has thousands of events."""
    return frozenset(name for name in NAMES if _fits(name, patterns))


class Subscription(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who is told: where, of which events (names, or groups such as `TASK_*`), of jobs with which labels.

    Without `events` of all, without `labels` of every job and of what belongs to none.
    """

    sink: Sink
    events: tuple[str, ...] = ()
    labels: dict[str, str] = {}

    def __post_init__(self) -> None:
        if len(self.events) > MOST_FILTERS or len(self.labels) > MOST_FILTERS:
            raise Invalid(f"a subscription filters by at most {MOST_FILTERS} events and {MOST_FILTERS} labels")
        for pattern in self.events:
            if not any(fnmatchcase(event, pattern) for event in Event):
                raise Invalid(f"no event is called {pattern!r}")

    def wants(self, event: str) -> bool:
        """Whether it is told of such events."""
        return not self.events or event in _wanted(self.events) or (event not in NAMES and _fits(event, self.events))

    def covers(self, labels: Mapping[str, str]) -> bool:
        """Whether it is told of a job with these labels."""
        return self.labels.items() <= labels.items()


class Channel(NamedTuple):
    """A channel as its row has it. What it says depends on its kind."""

    id: UUID
    tenant_id: UUID
    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    paused_at: datetime | None
    body: dict[str, object]


class Owner(NamedTuple):
    """The tenant of a channel, and where its webhooks may lead; None where the deployment's rules hold."""

    name: str
    egress: Egress | None


def check_name(name: str) -> None:
    """Refuse names that could not stand in a path."""
    if not NAME.fullmatch(name):
        raise Invalid("a channel's name has 1 to 120 letters, digits, dots, hyphens and underscores")


def check_topic(brokers: Brokers, tenant: str, topic: Topic) -> Broker:
    """Refuse brokers that the deployment does not have, and topics that are not this tenant's."""
    broker = brokers.get(topic.broker)
    if broker is None:
        raise Invalid(f"this deployment has no broker {topic.broker!r}")
    if not broker.opens(tenant, topic.topic):
        own = ", ".join(broker.topics).replace("{tenant}", tenant) or "none"
        raise Invalid(f"the topic {topic.topic!r} is not this tenant's on {topic.broker!r}; its own are: {own}")
    return broker
