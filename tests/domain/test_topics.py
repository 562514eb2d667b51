"""Which topics are whose: no pattern with a tenant's name in it opens a topic to two tenants."""

from itertools import combinations, product

import pytest

from horae.domain.errors import Invalid
from horae.domain.events.channels import Broker, TopicAddress, check_topic
from horae.runtime.settings import BrokerSettings

NAMES = ("acme", "acme.eu", "acme-eu", "acme_eu", "acme.eu.west", "a", "a*", "*", "[a-z]*", "?", "{tenant}", "acme.*")
PATTERNS = (
    "{tenant}.*",
    "horae-{tenant}-*",
    "horae.{tenant}.in",
    "{tenant}_*",
    "in.{tenant}",
    "*.{tenant}",
    "{tenant}",
)
PARTS = ("orders", "eu", "west", "a", "acme", "in", "x-y", "x_y")


def test_topics_of_a_tenant_whose_name_begins_alike_are_not_open():
    """Of the lesser findings: `acme` could read and write what is `acme.eu`'s."""
    broker = Broker("kafka", ("{tenant}.*",))
    assert broker.opens("acme", "acme.orders")
    assert not broker.opens("acme", "acme.eu.orders")
    assert broker.opens("acme.eu", "acme.eu.orders")
    with pytest.raises(Invalid, match="not this tenant's"):
        check_topic({"main": broker}, "acme", TopicAddress("main", "acme.eu.orders"))


@pytest.mark.parametrize("name", ["*", "a*", "[a-z]*", "?cme", "acme.*"])
def test_a_name_is_no_pattern(name):
    broker = Broker("kafka", ("{tenant}.*",))
    assert not broker.opens(name, "acme.orders")
    assert not broker.opens(name, "acme.eu.orders")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_topic_is_open_to_two_tenants(pattern):
    broker = Broker("kafka", (pattern,))
    topics = {
        f"{before}{name}{between}{part}"
        for name, part in product(NAMES, PARTS)
        for before, between in product(("", "horae-", "horae.", "in.", "x."), (".", "-", "_", ""))
    }
    for one, other in combinations(NAMES, 2):
        shared = {topic for topic in topics if broker.opens(one, topic) and broker.opens(other, topic)}
        assert not shared, (one, other)


@pytest.mark.parametrize("pattern", ["{tenant}*", "*{tenant}", "{tenant}?*", "horae.?{tenant}", "a.{tenant}*.b"])
def test_a_wildcard_beside_the_name_is_refused_at_the_start(pattern):
    """`acmecorporders` would be open to `acme` and to `acmecorp`."""
    with pytest.raises(ValueError, match="beside"):
        BrokerSettings(kind="nats", url="nats://h", topics=[pattern])


@pytest.mark.parametrize("pattern", [*PATTERNS, "shared.*"])
def test_patterns_with_something_between_are_taken(pattern):
    assert BrokerSettings(kind="nats", url="nats://h", topics=[pattern]).topics == [pattern]


def test_a_pattern_without_a_tenant_is_open_to_all_and_the_platform_may_use_any():
    broker = Broker("kafka", ("shared.*",))
    assert broker.opens("acme", "shared.a.b")
    assert not broker.opens("acme", "own.a")
    assert broker.opens("system", "own.a")
    assert Broker("kafka", ("*",)).opens("acme", "anything.at.all")


def test_more_parts_are_opened_by_naming_them():
    broker = Broker("kafka", ("{tenant}.*", "{tenant}.*.*"))
    assert broker.opens("acme", "acme.orders.created")
