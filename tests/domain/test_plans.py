"""What a source of schedules wants of the jobs that are there, on paper."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.plans.plans import (
    APPLIED,
    CHANGES,
    OWNER,
    SHADOW,
    ChangeStep,
    ConflictStep,
    CreateStep,
    DeclaredJob,
    Keep,
    Leave,
    Prune,
    RefusedStep,
    StoredJob,
    applied_of,
    check_owner,
    decision_steps,
    owner_of,
)
from horae.domain.schedules import Override
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, cron
from horae.domain.steps import finish
from horae.domain.targets.targets import QueueTarget
from tests.domain.builders import LATER, NOW


def decide(*args, **facts):
    return finish(decision_steps(*args, **facts))


def a_definition(expression="0 2 * * *", **facts):
    return Definition(trigger=cron(expression), target=QueueTarget("q"), **facts)


def declared(name="a", definition=None, **facts):
    return DeclaredJob(name=name, definition=definition or a_definition(), **facts)


class World:
    """Jobs and their versions, as the rows would have them."""

    def __init__(self):
        self.jobs = {}
        self.versions = {}

    def standing(self):
        return {name: StoredJob(job, self.versions.get((job.id, applied_of(job)))) for name, job in self.jobs.items()}

    def put(self, name, definition, status=Status.ACTIVE):
        before = self.jobs.get(name)
        id_ = before.id if before else UUID(int=len(self.versions) + 1)
        job = Job(
            shard=1,
            id=id_,
            tenant_id=UUID(int=0),
            name=name,
            version=before.version + 1 if before else 1,
            status=status,
            definition=definition,
        )
        self.jobs[name] = job
        self.versions[id_, job.version] = definition

    def edit(self, name, **facts):
        job = self.jobs[name]
        self.put(name, replace(job.definition, **facts), job.status)

    def apply(self, *sources, owner="billing", **how):
        steps = decide(owner, sources, self.standing(), **how)
        for step in steps:
            match step:
                case CreateStep(name, definition, paused):
                    self.put(name, definition, Status.PAUSED if paused else Status.ACTIVE)
                case ChangeStep(name, job, definition, pause=pause):
                    status = {True: Status.PAUSED, False: Status.ACTIVE, None: job.status}[pause]
                    if step.writes:
                        self.put(name, definition, status)
                    self.jobs[name] = replace(self.jobs[name], status=status)
                case Prune(name):
                    del self.jobs[name]
        return steps


@pytest.fixture
def world():
    return World()


def test_what_is_missing_is_created_with_its_marks_and_then_kept(world):
    [step] = world.apply(declared())
    assert isinstance(step, CreateStep)
    assert world.jobs["a"].definition.labels == {OWNER: "billing", APPLIED: "1"}
    assert [type(one) for one in world.apply(declared())] == [Keep]


def test_a_change_is_told_field_by_field(world):
    world.apply(declared())
    [step] = world.apply(declared(definition=a_definition("0 3 * * *", priority=Priority.CRITICAL)))
    assert [field.text for field in step.fields] == [
        '~ priority: "normal" → "critical"',
        '~ trigger.expression: "0 2 * * *" → "0 3 * * *"',
    ]
    assert world.jobs["a"].definition.labels[APPLIED] == "2"


def test_an_edit_by_somebody_else_is_shown_and_not_overwritten_until_someone_insists(world):
    world.apply(declared())
    world.edit("a", priority=Priority.LOW)
    [step] = world.apply(declared())
    assert isinstance(step, ConflictStep)
    assert [edit.text for edit in step.edits] == ['~ priority: "normal" → "low"']
    assert world.jobs["a"].definition.priority is Priority.LOW
    [step] = world.apply(declared(), force=True)
    assert isinstance(step, ChangeStep)
    assert world.jobs["a"].definition.priority is Priority.NORMAL
    assert [type(one) for one in world.apply(declared())] == [Keep]


def test_an_edit_that_the_source_follows_is_no_conflict(world):
    world.apply(declared())
    world.edit("a", priority=Priority.LOW)
    follows = declared(definition=a_definition(priority=Priority.LOW))
    [step] = world.apply(follows)
    assert isinstance(step, ChangeStep)
    assert not step.fields
    assert [type(one) for one in world.apply(follows)] == [Keep]
    [step] = world.apply(declared(definition=a_definition(priority=Priority.CRITICAL)))
    assert isinstance(step, ChangeStep)


def test_a_skipped_occurrence_is_no_edit_and_survives(world):
    world.apply(declared())
    world.edit("a", overrides=(Override(LATER),))
    assert [type(one) for one in world.apply(declared())] == [Keep]
    world.apply(declared(definition=a_definition(priority=Priority.LOW)))
    assert world.jobs["a"].definition.overrides == (Override(LATER),)


def test_jobs_of_others_are_never_touched_and_those_of_nobody_only_by_force(world):
    world.put("a", a_definition())
    world.apply(declared("b"), owner="someone")
    steps = world.apply(declared("a"), declared("b"), force=False, prune=True)
    assert [type(step) for step in steps] == [ConflictStep, RefusedStep]
    steps = world.apply(declared("a"), declared("b"), force=True, prune=True)
    assert [type(step) for step in steps] == [ChangeStep, RefusedStep]
    assert owner_of(world.jobs["a"]) == "billing"
    assert owner_of(world.jobs["b"]) == "someone"
    world.apply(force=True, prune=True)
    assert set(world.jobs) == {"b"}


def test_what_is_declared_no_longer_goes_only_when_asked(world):
    world.apply(declared("a"), declared("b"))
    assert [type(step) for step in world.apply(declared("a"))] == [Keep, Leave]
    world.edit("b", priority=Priority.LOW)
    assert [type(step) for step in world.apply(declared("a"), prune=True)] == [Keep, ConflictStep]
    assert [type(step) for step in world.apply(declared("a"), prune=True, force=True)] == [Keep, Prune]
    assert set(world.jobs) == {"a"}


def test_an_interval_without_an_anchor_keeps_the_one_it_has(world):
    first = Definition(trigger=IntervalTrigger(60, NOW), target=QueueTarget("q"))
    later = Definition(trigger=IntervalTrigger(60, LATER), target=QueueTarget("q"))
    world.apply(declared(definition=first, anchored=False))
    assert [type(step) for step in world.apply(declared(definition=later, anchored=False))] == [Keep]
    assert [type(step) for step in world.apply(declared(definition=later))] == [ChangeStep]


def test_a_job_cannot_become_another_kind_of_job(world):
    world.apply(declared())
    keyed = Definition(trigger=KeyedTrigger(), target=QueueTarget("q"))
    [step] = world.apply(declared(definition=keyed), force=True)
    assert isinstance(step, RefusedStep)


def test_a_pause_by_a_person_is_left_alone_unless_the_source_speaks_of_it(world):
    world.apply(declared())
    world.jobs["a"] = replace(world.jobs["a"], status=Status.PAUSED)
    assert [type(step) for step in world.apply(declared())] == [Keep]
    world.apply(declared(paused=False))
    assert world.jobs["a"].status is Status.ACTIVE
    assert world.jobs["a"].version == 1, "nothing else changed"
    world.apply(declared(paused=True))
    assert world.jobs["a"].status is Status.PAUSED


def test_a_shadow_fires_nothing_and_begins_when_it_leaves_the_shadow(world):
    world.apply(declared(shadow=True))
    assert world.jobs["a"].definition.labels[SHADOW] == "true"
    assert world.jobs["a"].status is Status.PAUSED
    assert [type(step) for step in world.apply(declared(shadow=True))] == [Keep]
    world.apply(declared())
    assert SHADOW not in world.jobs["a"].definition.labels
    assert world.jobs["a"].status is Status.ACTIVE


def test_marks_are_ours_and_owners_are_needed(world):
    [step] = world.apply(declared(definition=a_definition(labels={OWNER: "me"})))
    assert isinstance(step, RefusedStep)
    [step] = world.apply(declared("no/slash"))
    assert isinstance(step, RefusedStep)
    for owner in ("", "a,b", "x" * 64):
        with pytest.raises(Invalid):
            check_owner(owner)


names = st.sampled_from("abcd")
definitions = st.builds(
    a_definition,
    st.sampled_from(["0 2 * * *", "0 3 * * *", "*/5 * * * *"]),
    priority=st.sampled_from(Priority),
    labels=st.dictionaries(st.sampled_from(["team", "x"]), st.sampled_from(["1", "2"])),
    payload=st.sampled_from([None, {"a": 1}, {"a": {"b": 2}}, [1]]),
)
sources = st.dictionaries(
    names,
    st.tuples(definitions, st.sampled_from([None, True, False]), st.booleans()),
).map(lambda found: [DeclaredJob(name=n, definition=d, paused=p, shadow=s) for n, (d, p, s) in found.items()])
edits = st.one_of(
    st.builds(lambda priority: {"priority": priority}, st.sampled_from(Priority)),
    st.builds(lambda payload: {"payload": payload}, st.sampled_from([None, {"a": {"b": 3}}])),
    st.just({"labels": {}}),  # the marks go, too
    st.just({"overrides": (Override(LATER),)}),
)
events = st.lists(
    st.one_of(
        st.tuples(st.just("apply"), sources, st.booleans(), st.booleans()),
        st.tuples(st.just("edit"), names, edits),
        st.tuples(st.just("other"), sources),
    ),
    max_size=8,
)


@given(events, sources, st.booleans(), st.booleans())
def test_whatever_happened_before_applying_twice_is_a_no_op(past, wanted, prune, force):
    world = World()
    for event, *facts in past:
        if event == "apply":
            world.apply(*facts[0], prune=facts[1], force=facts[2])
        elif event == "other":
            world.apply(*facts[0], owner="someone")
        elif facts[0] in world.jobs:
            world.edit(facts[0], **facts[1])
    others = {name: job for name, job in world.jobs.items() if owner_of(job) == "someone"}
    first = world.apply(*wanted, prune=prune, force=force)
    stood = dict(world.jobs)
    again = world.apply(*wanted, prune=prune, force=force)
    assert not [step for step in again if isinstance(step, CHANGES)], (first, again)
    assert world.jobs == stood
    assert {name: world.jobs[name] for name in others} == others, "jobs of others are never touched"
    if force:
        assert not any(isinstance(step, ConflictStep) for step in again)
