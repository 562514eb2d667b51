"""Parameters of steps: what they find, what is refused, and what they read."""

import pytest
from msgspec import UNSET

from horae.domain.errors import Invalid
from horae.domain.graphs.children import ChildCount, decide_children
from horae.domain.graphs.graphs import GraphStep, StepPlan, StepReads, ordered, reads_of, steps_before
from horae.domain.graphs.parameters import UnresolvedParameter, follow, resolve
from horae.runtime.randomness import new_token

TREE = {"items": [{"id": 1}, {"id": None, "tags": ["x", [2]]}], "text": "abc"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", TREE),
        ("items[0].id", 1),
        ("items[1].id", None),
        ("items[1].tags[1][0]", 2),
        ("items[2]", UNSET),
        ("items.id", UNSET),
        ("text[0]", UNSET),
        ("text.length", UNSET),
        ("no.such", UNSET),
    ],
)
def test_a_path_finds_what_is_there_and_nothing_else(path, found):
    assert follow(TREE, path) == found


def test_a_payload_without_references_stays_as_it_is():
    payload = {"a": [1, {"b": None}], "$": "x", "c": {"run": "fire_time"}}
    assert resolve(payload, pytest.fail) == payload
    assert reads_of(StepPlan("a"), payload, ()) == StepReads((), False)


def test_a_default_stands_for_what_is_missing_but_not_for_a_null():
    payload = [{"$result": "a", "path": "items[1].id", "default": 7}, {"$result": "a", "path": "x", "default": 7}]
    assert resolve(payload, lambda _: TREE) == [None, 7]
    with pytest.raises(UnresolvedParameter, match="the element at x has no value"):
        resolve({"$item": True, "path": "x"}, lambda _: TREE)


def test_a_step_reads_results_of_all_steps_that_lie_before_it():
    plans = ordered([StepPlan("d", ("c",)), StepPlan("c", ("a", "b")), StepPlan("a"), StepPlan("b"), StepPlan("e")])
    before = steps_before(plans)
    assert before == {"d": {"a", "b", "c"}, "c": {"a", "b"}}
    payload = [{"$result": "b"}, {"$run": "payload"}]
    assert reads_of(StepPlan("d", ("c",), each={"$result": "a"}), payload, before["d"]) == StepReads(("a", "b"), True)


@pytest.mark.parametrize(
    ("tolerated", "failed", "live", "waiting", "state"),
    [
        (0.0, 0, 0, [], "SUCCESS"),
        (0.0, 1, 0, [], "DEAD"),
        (0.1, 3, 0, [], "SUCCESS"),
        (0.1, 4, 0, [], "DEAD"),
        (0.1, 4, 1, [7], None),
        (0.1, 4, 0, [7], "DEAD"),
        (1.0, 30, 0, [], "SUCCESS"),
        (0.0, 0, 0, [7], None),
    ],
)
def test_a_mapped_step_ends_by_the_share_of_failed_children(tolerated, failed, live, waiting, state):
    step = GraphStep("a", new_token(), 1, 0, 1, tolerated_failures=tolerated)
    decided = decide_children(step, 30, ChildCount(live, failed, waiting))
    assert decided.state == state
    assert list(decided.starting) == (waiting if state is None and not live else [])


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"payload": {"$result": "c"}}, "does not lie before it"),
        ({"payload": {"$result": "b"}}, "does not lie before it"),
        ({"payload": {"$result": "nobody"}}, "does not lie before it"),
        ({"payload": {"$run": "weather"}}, "'\\$run' is one of"),
        ({"payload": {"$run": "payload", "paht": "x"}}, "has no 'paht'"),
        ({"payload": {"$run": "payload", "path": "a..b"}}, "a path is like"),
        ({"payload": {"$result": 3}}, "is the name of a step"),
        ({"payload": {"$item": True}}, "has no list"),
        ({"payload": [{"$run": "fire_time"}] * 101}, "at most 100 parameters"),
        ({"concurrency": 2}, "have no effect"),
        ({"each": {"items": [1]}}, "is a '\\$result', or the '\\$run' payload"),
        ({"each": {"$run": "fire_time"}}, "is a '\\$result', or the '\\$run' payload"),
        ({"each": {"$result": "c"}}, "does not lie before it"),
        ({"each": {"$result": "a"}, "concurrency": 0}, "1 to 10000"),
        ({"each": {"$result": "a"}, "tolerated_failures": 1.5}, "0 to 1"),
    ],
)
def test_malformed_parameters_are_refused_when_a_graph_is_made(facts, message):
    fields = {name: value for name, value in facts.items() if name != "payload"}
    plans = ordered([StepPlan("a"), StepPlan("b", ("a",), **fields), StepPlan("c", ("b",))])
    with pytest.raises(Invalid, match=message):
        reads_of(plans[1], facts.get("payload"), steps_before(plans)["b"])
