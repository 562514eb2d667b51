"""Channels: subscriptions send events out, intakes take schedule changes in from topics.

A tenant names a broker of the deployment and a topic; it never names an address. `Broker.topics` of the deployment says
which topics belong to which tenant, so that no tenant reads or writes another's.

A pattern with `{tenant}` never opens one topic to two tenants. `acme` has `acme.orders`; `acme.eu.orders` belongs to
`acme.eu` alone.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.events.events import Event
from horae.domain.names import LONGEST_NAME
from horae.domain.targets.auth import check_secret_name
from horae.domain.targets.egress import Egress
from horae.domain.targets.urls import check_url
from horae.domain.tenants.tenants import SYSTEM

LONGEST_TOPIC: Final = 200
"""Characters."""
TOPIC: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_TOPIC - 1}}}")
NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")
MOST_FILTERS: Final = 50
"""Event patterns, or labels, of one subscription."""
TENANT: Final = "{tenant}"
PIECES: Final = re.compile(r"\{tenant\}|.", re.DOTALL)
WILD_BESIDE_TENANT: Final = re.compile(r"[*?]\{tenant\}|\{tenant\}[*?]")
BESIDE_TENANT: Final = re.compile(r"(.?)\{tenant\}(.?)", re.DOTALL)


class Broker(NamedTuple):
    """A broker as tenants see it: its kind, and the patterns of its topics."""

    kind: str
    topics: tuple[str, ...]

    def opens(self, tenant: str, topic: str) -> bool:
        """Whether a tenant may use a topic. The system tenant may use any."""
        return tenant == SYSTEM or any(_opens(pattern, tenant, topic) for pattern in self.topics)


Brokers = Mapping[str, Broker]


def check_pattern(pattern: str) -> None:
    """Refuse a wildcard beside `{tenant}`: it could stand for the rest of a longer tenant name."""
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
    """Return a regular expression in which `{tenant}` is still to be replaced."""
    beside = {"."} | {mark for pair in BESIDE_TENANT.findall(pattern) for mark in pair if mark and mark not in "*?"}
    part = f"[^{re.escape(''.join(sorted(beside)))}]"
    wild = {"*": f"{part}+", "?": part, TENANT: TENANT}
    return "".join(wild.get(one) or re.escape(one) for one in PIECES.findall(pattern))


class TopicAddress(msgspec.Struct, frozen=True, tag_field="kind", tag="topic"):
    """A topic, subject or queue of a broker."""

    broker: str
    topic: str

    def __post_init__(self) -> None:
        if not TOPIC.fullmatch(self.topic):
            raise Invalid(f"a topic has 1 to {LONGEST_TOPIC} letters, digits, dots, hyphens and underscores")


class WebhookAddress(msgspec.Struct, frozen=True, tag_field="kind", tag="webhook", omit_defaults=True):
    """A URL that takes batches of events, signed with the named secret."""

    url: str
    signing: str

    def __post_init__(self) -> None:
        check_url(self.url)
        check_secret_name(self.signing)


Sink = TopicAddress | WebhookAddress


NAMES: Final = frozenset(str(event) for event in Event)


def _fits(event: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(event, pattern) for pattern in patterns)


@lru_cache(maxsize=10_000)
def _matching_events(patterns: tuple[str, ...]) -> frozenset[str]:
    """Return the events that some patterns match, cached: a page has thousands of events."""
    return frozenset(name for name in NAMES if _fits(name, patterns))


class Subscription(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subscription: a sink, patterns of event names (such as `TASK_*`), and labels of jobs.

    Without `events` it gets all events. Without `labels` it gets the events of every job and those of no job.
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
        """Whether it gets events of this name."""
        return (
            not self.events
            or event in _matching_events(self.events)
            or (event not in NAMES and _fits(event, self.events))
        )

    def covers(self, labels: Mapping[str, str]) -> bool:
        """Whether it gets the events of a job with these labels."""
        return self.labels.items() <= labels.items()


class Channel(NamedTuple):
    """A channel as stored. Its `body` depends on its kind."""

    id: UUID
    tenant_id: UUID
    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    paused_at: datetime | None
    body: dict[str, object]


class ChannelOwner(NamedTuple):
    """The tenant of a channel, and the egress rules of its webhooks; None: the rules of the deployment apply."""

    name: str
    egress: Egress | None


def check_name(name: str) -> None:
    """Refuse names that cannot be part of a path."""
    if not NAME.fullmatch(name):
        raise Invalid(f"a channel's name has 1 to {LONGEST_NAME} letters, digits, dots, hyphens and underscores")


def check_topic(brokers: Brokers, tenant: str, topic: TopicAddress) -> Broker:
    """Refuse a broker that the deployment does not have, and a topic of another tenant."""
    broker = brokers.get(topic.broker)
    if broker is None:
        raise Invalid(f"this deployment has no broker {topic.broker!r}")
    if not broker.opens(tenant, topic.topic):
        own = ", ".join(broker.topics).replace("{tenant}", tenant) or "none"
        raise Invalid(f"the topic {topic.topic!r} is not this tenant's on {topic.broker!r}; its own are: {own}")
    return broker
