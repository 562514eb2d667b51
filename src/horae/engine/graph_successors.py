"""Releases the successors of a step in the transaction that records its success.

1. Lock the runs of the ended steps, in the order of their ids. Whoever records another end of such a run waits, so one
   of the two sees both ends.
2. Record the ends. The same statement reads the steps that need them, and what those need.
3. The rules decide about these steps alone. What may start without values is released by one statement.
4. Everything else is left to `GraphRunner`: the run is marked as stale. That is so if a step failed or was declined, if
   a step that may start takes values or is mapped, if nothing needs the ended step, since the run may be over, and if
   the run is blocked, or its job or tenant is paused.

There are five statements at most for a batch, however many runs and steps it has; those of children have one.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from horae.domain.graphs.graphs import Graph
from horae.domain.graphs.links import GraphLinks, is_plain, links_of
from horae.domain.graphs.runs import StepState, decide_step
from horae.engine.graph_releases import plain_release, timers_of
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.step_ends import RecordedEnds, record_children
from horae.runtime.randomness import id_maker
from horae.store.graphs import runs, steps
from horae.store.graphs.runs import RunOfStep
from horae.store.graphs.steps import EndedStep, ReleaseRow, SeenStep, StepEnd, StepPlace
from horae.store.tx import Tx

MAX_KNOWN_STEPS: Final = 200_000
"""Steps of graphs whose links are kept in memory."""
Version = tuple[UUID, int]


class KnownLinks:
    """The links of graph versions; the oldest are dropped first."""

    def __init__(self) -> None:
        self._links: OrderedDict[Version, GraphLinks] = OrderedDict()
        self._steps = 0

    def of(self, version: Version, graph: Graph) -> GraphLinks:
        """The links of a version of a graph."""
        links = self._links.get(version)
        if links is None:
            links = self._links[version] = links_of(graph)
            self._steps += len(links.needs)
            while self._steps > MAX_KNOWN_STEPS and len(self._links) > 1:
                _, dropped = self._links.popitem(last=False)
                self._steps -= len(dropped.needs)
        return links


class SuccessorReleaser:
    """Records ends of steps for the settler of a node, and releases what follows."""

    def __init__(self, territory: Territory, definitions: Definitions, held: Callable[[], Collection[UUID]]) -> None:
        self.territory = territory
        self.definitions = definitions
        self.held = held
        self._known = KnownLinks()

    async def record(self, tx: Tx, step_ends: Sequence[StepEnd], child_ends: Sequence[StepEnd]) -> RecordedEnds:
        """Record ends of steps and children; returns the timers of what was released."""
        made = await record_children(tx, child_ends)
        if not step_ends:
            return made
        ends = {end.instance_id: end for end in step_ends}
        found = await runs.lock_of_steps(tx, [(end.shard, end.instance_id) for end in step_ends])
        by_run: defaultdict[UUID, list[RunOfStep]] = defaultdict(list)
        for one in found:
            by_run[one.id].append(one)
        links = await self._links_of(tx, by_run)
        others = [
            StepPlace(of_run[0].shard, id_, place)
            for id_, of_run in by_run.items()
            if id_ in links
            for place in links[id_].around(one.position for one in of_run)
        ]
        ended = [_ended(one, ends[one.instance_id]) for one in found]
        seen = await steps.record_locked(tx, ended, others) if ended else []
        released, undecided = _decide_all(by_run, links, seen, id_maker(tx.now))
        if released:
            await steps.release(tx, released)
        if undecided:
            await runs.mark_stale(tx, undecided)
        return RecordedEnds(timers_of(released, tx), made.undecided or bool(undecided))

    async def _links_of(self, tx: Tx, by_run: Mapping[UUID, Sequence[RunOfStep]]) -> dict[UUID, GraphLinks]:
        """The links of the runs of which steps may be released here and now."""
        held = self.held()
        firsts = [
            of_run[0]
            for of_run in by_run.values()
            if not of_run[0].held_back and of_run[0].tenant_id not in held and of_run[0].shard in self.territory.shards
        ]
        known = await self.definitions.load(tx, {(run.shard, run.job_id, run.job_version) for run in firsts})
        found: dict[UUID, GraphLinks] = {}
        for run in firsts:
            version = (run.job_id, run.job_version)
            job = known.get(version)
            if job is not None and job.definition.graph is not None:
                found[run.id] = self._known.of(version, job.definition.graph)
        return found


def _ended(one: RunOfStep, end: StepEnd) -> EndedStep:
    return EndedStep(one.shard, one.id, one.position, one.instance_id, end.state, end.reason)


def _decide_all(
    by_run: Mapping[UUID, Sequence[RunOfStep]],
    links: Mapping[UUID, GraphLinks],
    seen: Iterable[SeenStep],
    new_id: Callable[[int], UUID],
) -> tuple[list[ReleaseRow], list[tuple[int, UUID]]]:
    """Return what to release, and the runs (shard and id) that are left to the runner of graphs."""
    states: defaultdict[UUID, dict[int, SeenStep]] = defaultdict(dict)
    for step in seen:
        if step.is_end or step.position not in states[step.run_id]:
            states[step.run_id][step.position] = step
    released: list[ReleaseRow] = []
    undecided: list[tuple[int, UUID]] = []
    for id_, of_run in by_run.items():
        is_decided = id_ in links and _decide(of_run, links[id_], states[id_], new_id, released)
        if not is_decided:
            undecided.append((of_run[0].shard, id_))
    return released, undecided


def _decide(
    ended: Sequence[RunOfStep],
    links: GraphLinks,
    states: Mapping[int, SeenStep],
    new_id: Callable[[int], UUID],
    released: list[ReleaseRow],
) -> bool:
    """Add what follows the ended steps of a run to `released`; returns whether nothing else is to be decided."""
    run, is_decided, following = ended[0], True, set[int]()
    for one in ended:
        seen = states.get(one.position)
        followers = links.followers[one.position]
        if seen is None or not seen.is_end or seen.state != StepState.SUCCESS or not followers:
            is_decided = False
        following.update(followers)
    for place in sorted(following):
        if states[place].state != StepState.WAITING:
            continue
        step = links.graph.steps[place]
        decided = decide_step(step.rule, [states[need].state for need in links.needs[place]])
        if decided == StepState.RELEASED and is_plain(step):
            released.append(plain_release(run, step, place, states[place].generation, new_id(run.shard)))
        elif decided != StepState.WAITING:
            is_decided = False
    return is_decided
