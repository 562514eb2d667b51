"""Edges on paper: what is refused, what is a circle, and which version a task after another one has."""

from datetime import UTC, datetime
from uuid import uuid4

import msgspec
import pytest

from horae.domain.errors import CountReached, Invalid
from horae.domain.jobs.edges import (
    MOST_EDGES,
    After,
    EndedInstance,
    EndKind,
    check_edge,
    circle_of,
    circle_text,
    marked,
)
from horae.domain.jobs.jobs import Definition
from horae.domain.plans.edges import EdgeFacts, with_refused_edges
from horae.domain.plans.plans import CreateStep, RefusedStep
from horae.domain.schedules.triggers import KeyedTrigger, ManualTrigger, cron
from horae.domain.targets.targets import QueueTarget

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
QUEUE = QueueTarget("q")


def check(name, source, others=(), *, is_keyed=False, has_keys=False):
    check_edge(name, After(source), is_keyed=is_keyed, has_keys=has_keys, others=dict(others))


def test_jobs_that_start_each_other_are_a_circle_of_any_length():
    sources = {"b": "a", "c": "b", "d": "c", "x": "y", "y": "x", "z": "x"}
    assert circle_of("d", sources) == []
    assert circle_of("z", sources) == [], "it leads into a circle, and is not in it"
    assert circle_text(circle_of("a", sources | {"a": "c"})) == "a → b → c → a"
    with pytest.raises(Invalid, match="a → b → c → a"):
        check("a", "c", sources)


def test_a_changed_edge_takes_the_place_of_the_one_before_it():
    check("b", "x", {"b": "a", "a": "y"})
    check("a", "b", {"b": "c", "a": "x"})


def test_a_tenant_has_a_bound_of_edges_and_the_last_one_can_be_changed():
    many = {f"job-{n}": "a" for n in range(MOST_EDGES)}
    check("job-0", "b", many)
    with pytest.raises(CountReached):
        check("one more", "a", many)


@pytest.mark.parametrize(
    ("is_keyed", "has_keys", "fits"), [(True, False, False), (True, True, True), (False, True, True)]
)
def test_a_type_of_tasks_needs_keys_to_start_after(is_keyed, has_keys, fits):
    if fits:
        check("b", "a", is_keyed=is_keyed, has_keys=has_keys)
    else:
        with pytest.raises(Invalid, match="keys"):
            check("b", "a", is_keyed=is_keyed, has_keys=has_keys)


def test_an_edge_keeps_its_id_as_long_as_it_says_the_same():
    made = marked(After("a"), None, uuid4(), NOON)
    assert marked(After("a", EndKind.SUCCEEDED), made, uuid4(), NOON) is made
    assert marked(None, made, uuid4(), NOON) is None
    other = marked(After("a", EndKind.ENDED), made, id_ := uuid4(), NOON)
    assert (other.edge_id, other.since, other.on) == (id_, NOON, EndKind.ENDED)


@pytest.mark.parametrize(
    ("is_latest", "ledger", "version"),
    [(True, 7, 7), (True, None, None), (False, 7, 6), (False, 0, 0), (False, None, None)],
)
def test_a_task_after_another_has_its_version_or_one_below_a_newer_intent(is_latest, ledger, version):
    ended = EndedInstance(1, 1, uuid4(), "key", NOON, NOON, is_latest, ledger)
    assert ended.intent_version == version


def test_only_jobs_fired_by_hand_and_types_start_after_others():
    for trigger in (ManualTrigger(), KeyedTrigger()):
        assert Definition(trigger=trigger, target=QUEUE, after=After("a")).after == After("a")
    with pytest.raises(Invalid, match="by hand"):
        Definition(trigger=cron("* * * * *"), target=QUEUE, after=After("a"))


def test_a_definition_is_stored_with_its_edge_and_an_older_release_reads_the_rest():
    stored = msgspec.to_builtins(Definition(trigger=ManualTrigger(), target=QUEUE, after=After("a", EndKind.FAILED)))
    assert stored["after"] == {"job": "a", "on": "failed"}
    assert "after" not in msgspec.to_builtins(Definition(trigger=ManualTrigger(), target=QUEUE))


def test_a_plan_refuses_edges_to_nobody_and_circles_within_it_and_with_stored_jobs():
    def step(name, source=None):
        after = None if source is None else After(source)
        return CreateStep(name, Definition(trigger=ManualTrigger(), target=QUEUE, after=after))

    stored = Definition(trigger=ManualTrigger(), target=QUEUE)
    steps = [
        step("a", "b"),
        step("b", "a"),
        step("c", "nobody"),
        step("d", "e"),
        step("e"),
        step("f", "kept"),
        step("g", "g"),
    ]
    facts = EdgeFacts({"kept": stored}, {"kept": "f"})
    refused = {one.name: one.reason for one in with_refused_edges(steps, facts) if isinstance(one, RefusedStep)}
    assert refused.keys() == {"a", "b", "c", "f", "g"}
    assert refused["c"] == "there is no job 'nobody' to start after"
    assert "f → kept → f" in refused["f"]
