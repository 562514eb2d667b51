"""Filters of subscriptions: what a page costs does not grow with the number of patterns."""

from horae.domain.events import channels
from horae.domain.events.channels import MOST_FILTERS, Subscription, TopicAddress
from horae.domain.events.events import Event

EVENTS = [str(event) for event in Event]


def test_a_page_of_events_matches_each_pattern_with_each_name_once(monkeypatch):
    matched = []
    real = channels.fnmatchcase
    wanted = Subscription(TopicAddress("main", "acme.x"), tuple(f"{'?' * n}*" for n in range(1, MOST_FILTERS + 1 - 40)))
    monkeypatch.setattr(channels, "fnmatchcase", lambda *pair: matched.append(pair) or real(*pair))
    channels._matching_events.cache_clear()
    for n in range(2000):
        wanted.wants(EVENTS[n % len(EVENTS)])
    assert len(matched) <= len(EVENTS) * len(wanted.events)


def test_what_is_wanted_is_what_its_patterns_name():
    wanted = Subscription(TopicAddress("main", "acme.x"), ("TASK_*", "INSTANCE_DEAD"))
    assert {one for one in EVENTS if wanted.wants(one)} == {
        one for one in EVENTS if one.startswith("TASK_") or one == "INSTANCE_DEAD"
    }
    assert wanted.wants("TASK_OF_A_NEWER_RELEASE")
    assert not wanted.wants("SOMETHING_NEWER")
