"""Runs a drill under load: waits until all is calm, breaks something, measures, takes the way back, measures again."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from horae.boot.drills.faults import DrillFault
from horae.boot.drills.guarded import GuardianLink, guarded
from horae.boot.drills.receiver import DrillReceiver, receiving
from horae.domain.drills.drills import COUNTED_FROM_WAY_BACK, DrillKind
from horae.domain.drills.recovery import (
    IN_TIME,
    Recovery,
    SecondFigures,
    figures,
    is_calm,
    percentile,
    recovery,
    rpo_s,
)
from horae.domain.drills.reports import DrillResult, DrillStep, faults_of
from horae.domain.errors import HoraeError, Unavailable
from horae.runtime.cancellation import cancel_and_wait
from horae.service.context import CallerContext
from horae.service.drills import history
from horae.service.drills.load import DrillLoad, audit, drill_context
from horae.store.tx import GONE

POLL_S: Final = 0.2
WRITE_INTERVAL_S: Final = 0.2
AFTER_LIMIT: Final = timedelta(seconds=30)
"""How long after the time limit the jobs of the load end by themselves."""
CALM_TIMEOUT_S: Final = 60.0
"""How long the load may take to be in time before anything is broken."""
SETTLE_S: Final = 130.0
"""A little more than what the audit of fires leaves to fires that are under way."""
LOST: Final[tuple[type[Exception], ...]] = (*GONE, Unavailable)
MakeFault = Callable[[DrillReceiver], DrillFault]
"""Makes the fault; that of the targets needs the receiver."""


class DrillPlan(NamedTuple):
    """What a drill does.

    `hold_s` is how long the fault lasts at most. A fault that Horae survives by itself ends as soon as all is calm.
    `settle_s` is how long it waits before the audit of fires, which judges no fire of the last two minutes.
    `host` is the address of this machine that the receiver listens on: every node must reach it.
    """

    kind: DrillKind
    name: str
    environment: str
    deployment: str
    reason: str
    fires_per_s: int
    hold_s: float
    limit_s: float
    rto_target_s: float
    rpo_target_s: float
    settle_s: float = SETTLE_S
    host: str = "127.0.0.1"


class DrillRun:
    """One drill while it runs: its steps and times."""

    def __init__(self, ctx: CallerContext, plan: DrillPlan) -> None:
        self.began_at = ctx.store.clock.now()
        self.broken_at: datetime | None = None
        self.restored_at: datetime | None = None
        self.recovered_at: datetime | None = None
        self.faults: list[str] = []
        self._ctx, self._plan = ctx, plan
        self._steps: list[DrillStep] = []

    @property
    def steps(self) -> tuple[DrillStep, ...]:
        """What was done so far."""
        return tuple(self._steps)

    def step(self, step: str, detail: str = "") -> datetime:
        """Note a step; returns its time."""
        now = self._ctx.store.clock.now()
        self._steps.append(DrillStep(round((now - self.began_at).total_seconds(), 2), step, detail))
        return now


async def run_drill(
    ctx: CallerContext, plan: DrillPlan, make: MakeFault, log: Path
) -> tuple[DrillResult, list[SecondFigures]]:
    """Run a drill; returns its result, and the figures of each second.

    1. Check the fault, start the guardian and the load, and wait until all fires are in time.
    2. Give the way back to the guardian, record the drill, and break.
    3. Wait until Horae has recovered by itself, or until the fault has lasted long enough.
    4. Take the way back, and wait until all fires are in time and what was broken works again.
    5. Remove the load, and compare its fires and writes with the rows of all cells.
    """
    drill = await drill_context(ctx)
    run, load = DrillRun(ctx, plan), DrillLoad(drill, plan.name)
    async with receiving(plan.host, ctx.store.clock.now) as receiver:
        fault = make(receiver)
        await fault.check()
        ends_at = run.began_at + timedelta(seconds=plan.limit_s) + AFTER_LIMIT
        async with guarded(plan.limit_s, log) as guardian:
            try:
                await load.create(receiver.url, plan.fires_per_s, ends_at)
                writing = asyncio.create_task(_write(load))
                try:
                    async with asyncio.timeout(plan.limit_s):
                        await _break_and_recover(run, plan, fault, load, receiver, guardian, ctx)
                except TimeoutError:
                    run.faults.append(f"the time limit of {plan.limit_s:g} s has passed")
                finally:
                    await cancel_and_wait(writing)
                    await _take_way_back(run, fault, guardian)
                return await _result(run, plan, fault, load, receiver)
            finally:
                await _remove(run, load)


async def _break_and_recover(
    run: DrillRun,
    plan: DrillPlan,
    fault: DrillFault,
    load: DrillLoad,
    receiver: DrillReceiver,
    guardian: GuardianLink,
    ctx: CallerContext,
) -> None:
    def calm(since: datetime) -> bool:
        return is_calm(receiver.effects, load.anchors, since, load.ctx.now())

    run.step("load", f"{plan.fires_per_s} fires a second")
    try:
        await _until(lambda: calm(run.began_at), CALM_TIMEOUT_S)
    except TimeoutError as error:
        raise Unavailable(
            "the load of the drill is not in time: nothing was broken. Every node must run, and reach the receiver at "
            f"{receiver.url}"
        ) from error
    run.step("calm")
    for step in fault.way_back():
        await guardian.note(step)
    await history.record_began(ctx, plan.name, plan.kind, fault.how, plan.reason)
    run.broken_at = broken_at = run.step("broken", fault.how)
    run.step("fault", await fault.cause())
    if plan.kind in COUNTED_FROM_WAY_BACK:
        await asyncio.sleep(plan.hold_s)
    else:
        with suppress(TimeoutError):
            await _until(lambda: calm(broken_at), plan.hold_s)
            run.recovered_at = run.step("recovered", "before the way back")
    await _take_way_back(run, fault, guardian)
    since = run.restored_at or broken_at
    await _until(lambda: calm(since), plan.limit_s)
    await _until(fault.is_back, plan.limit_s)
    run.step("back", "all is calm, and what was broken works again")


async def _take_way_back(run: DrillRun, fault: DrillFault, guardian: GuardianLink) -> None:
    """Take the way back once, also after the time limit and after an error."""
    if run.restored_at is not None:
        return
    await fault.mend()
    try:
        reply = await guardian.take_way_back()
        run.restored_at = run.step("way back", "; ".join((reply.why, *reply.done)))
    except HoraeError as error:
        run.restored_at = run.step("way back", str(error))
        run.faults.append(str(error))


async def _until(condition: Callable[[], bool | Awaitable[bool]], seconds: float) -> None:
    """Wait until a condition holds; raises TimeoutError if it does not in time."""
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if holds is True or (isinstance(holds, Awaitable) and await holds):
                return
            await asyncio.sleep(POLL_S)


async def _write(load: DrillLoad) -> None:
    """Create tasks until cancelled. One that is not acknowledged counts nothing."""
    number = 0
    while True:
        number += 1
        with suppress(*LOST):
            await load.write(number)
        await asyncio.sleep(WRITE_INTERVAL_S)


async def _result(
    run: DrillRun, plan: DrillPlan, fault: DrillFault, load: DrillLoad, receiver: DrillReceiver
) -> tuple[DrillResult, list[SecondFigures]]:
    ended_at = load.ctx.now()
    effects, broken_at = receiver.effects, run.broken_at or ended_at
    lost_writes_s: float | None = None
    expected = findings = 0
    try:
        known = await load.known(one.key for one in load.acknowledged)
        lost_writes_s = rpo_s(load.acknowledged, known, broken_at)
        await load.remove()
        await asyncio.sleep(plan.settle_s)
        expected, findings = await audit(load.ctx, run.began_at, ended_at - IN_TIME)
    except LOST as error:
        run.faults.append(f"the rows could not be read: {error}")
    whole = _recovery(run, plan, load, receiver, ended_at)
    result = DrillResult(
        kind=plan.kind,
        environment=plan.environment,
        deployment=plan.deployment,
        actor=load.ctx.actor,
        reason=plan.reason,
        how=fault.how,
        began_at=run.began_at,
        broken_at=run.broken_at,
        restored_at=run.restored_at,
        ended_at=ended_at,
        rto_s=whole.rto_s,
        rpo_s=lost_writes_s,
        rto_target_s=plan.rto_target_s,
        rpo_target_s=plan.rpo_target_s,
        caught_up_s=whole.caught_up_s,
        fires_per_s=plan.fires_per_s,
        effects=len(effects),
        late=whole.late,
        lost=whole.lost,
        late_p95_ms=percentile([round((one.at - one.fire_time).total_seconds() * 1000) for one in effects]),
        writes=len(load.acknowledged),
        expected_fires=expected,
        findings=findings,
        faults=tuple(run.faults),
        steps=run.steps,
    )
    return replace(result, faults=faults_of(result)), figures(effects, run.began_at, ended_at)


def _recovery(run: DrillRun, plan: DrillPlan, load: DrillLoad, receiver: DrillReceiver, ended_at: datetime) -> Recovery:
    """The recovery by itself, if there was one; otherwise until the end. Late and lost fires are those of all time."""
    broken_at = run.broken_at
    if broken_at is None:
        return Recovery(None, 0.0, 0, 0)
    until = ended_at - IN_TIME
    counted_from = broken_at
    if plan.kind in COUNTED_FROM_WAY_BACK:
        counted_from = run.restored_at or ended_at
    whole = recovery(receiver.effects, load.anchors, broken_at, until, counted_from)
    if run.recovered_at is None:
        return whole
    own = recovery(receiver.effects, load.anchors, broken_at, run.recovered_at - IN_TIME, broken_at)
    return whole._replace(rto_s=own.rto_s)


async def _remove(run: DrillRun, load: DrillLoad) -> None:
    """Remove the load. Where a cell is down its jobs end by themselves."""
    try:
        await load.remove()
    except LOST as error:
        run.faults.append(f"the load could not be removed, and ends by itself: {error}")
