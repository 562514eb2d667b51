"""Restores the newest backup of a cell into a scratch server, opens it there, verifies it, and throws it away.

No node is started on it, and no other cell hears of its opening: the deployment does not notice the drill.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from horae.boot.drills import scratch_server
from horae.boot.drills.guarded import guarded
from horae.boot.drills.processes import process
from horae.boot.drills.runner import DrillPlan, DrillRun
from horae.boot.drills.scratch_server import BackupPlace
from horae.boot.drills.way_back import SCRATCH_PREFIX, DropScratchServer, EndProcess
from horae.domain.drills.recovery import IN_TIME
from horae.domain.drills.reports import DrillResult, faults_of
from horae.domain.errors import HoraeError, NotFound, Unavailable
from horae.domain.fire_audit.findings import FireFault
from horae.runtime.settings import CellSettings
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.service.context import CallerContext, PlatformContext
from horae.service.drills import history
from horae.service.restores import plans, restores
from horae.store.connections.admission import unchecked
from horae.store.nodes import leases
from horae.store.restores import contents
from horae.store.store import Store

AUDITED: Final = timedelta(hours=1)
"""How much of the restored time is audited."""


class RestoredCell(NamedTuple):
    """What was found in the scratch cell: its last heartbeat, and the audit of the fires before it.

    Its cursors stand still, because no node works there: that is no finding.
    """

    newest: datetime | None
    expected: int
    findings: int


async def run_restore(
    ctx: CallerContext, plan: DrillPlan, cells: Sequence[CellSettings], place: BackupPlace, log: Path
) -> DrillResult:
    """Run the drill; returns its result. `cells` are those of the deployment."""
    name = place.cell
    cell = next((one for one in cells if one.name == name), None)
    if cell is None:
        raise NotFound(f"there is no cell {name!r}")
    how = f"the newest backup of {name} in repository {place.repository} of stanza {place.stanza}"
    run = DrillRun(ctx, plan)
    await history.record_began(ctx, plan.name, plan.kind, how, plan.reason)
    found = RestoredCell(None, 0, 0)
    async with guarded(plan.limit_s, log) as guardian:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=SCRATCH_PREFIX, dir=place.scratch))
        await guardian.note(DropScratchServer(str(folder)))
        try:
            async with asyncio.timeout(plan.limit_s):
                program = await asyncio.to_thread(scratch_server.restoring, place, folder)
                if (started := process(program.pid)) is not None:
                    await guardian.note(EndProcess(started))
                await asyncio.to_thread(scratch_server.finish_restoring, program)
                run.step("restored", how)
                await asyncio.to_thread(scratch_server.start, folder)
                await scratch_server.until_ready(folder)
                run.step("replayed", "to the end of the archive")
                others = [one for one in cells if one.name != name]
                found = await _examine(run, plan, scratch_server.cell_of(cell, folder), others)
                run.restored_at = run.step("verified", f"{found.expected} fires audited")
        except TimeoutError:
            run.faults.append(f"the time limit of {plan.limit_s:g} s has passed")
        except (HoraeError, ConnectionError) as error:
            run.faults.append(str(error))
        reply = await guardian.take_way_back()
        run.step("way back", "; ".join(reply.done))
    return _result(run, plan, ctx, how, found)


async def _examine(
    run: DrillRun, plan: DrillPlan, scratch: CellSettings, others: Sequence[CellSettings]
) -> RestoredCell:
    """Read what the cell knows, open it as `horae restore open` does, and audit its fires.

    It is opened with a store that has this cell only: the others must not take it for the cell of today.
    """
    with unchecked():
        async with Store.of([scratch, *others]) as store:
            cell = store.cells[0]
            async with cell.statement() as tx:
                seen = [node.seen_at for node in await leases.nodes(tx)]
                rows = await contents.count_rows(tx)
            run.step("counted", ", ".join(f"{many} rows of {table}" for table, many in rows.items()))
            found = await plans.plan(PlatformContext(store, "drill"), scratch.name)
            newest = max(seen, default=None)
            if newest is None:
                raise Unavailable("no node ran before the backup ends: nobody knows how old it is")
            wanted = AuditRange(newest - AUDITED, newest - IN_TIME)
            audited = [one async for one in audit_fires(store.cells, wanted)]
        async with Store.of([scratch]) as alone:
            opened = await restores.open_cell(PlatformContext(alone, "drill"), found, plan.reason)
    run.step("opened", f"generation {opened.generation}, {opened.doubts} doubts")
    return RestoredCell(
        newest,
        sum_up(one.verdict.counts for one in audited).expected,
        sum(finding.fault is not FireFault.STANDS_STILL for one in audited for finding in one.verdict.findings),
    )


def _result(run: DrillRun, plan: DrillPlan, ctx: CallerContext, how: str, found: RestoredCell) -> DrillResult:
    ended_at, restored_at, newest = ctx.store.clock.now(), run.restored_at, found.newest
    result = DrillResult(
        kind=plan.kind,
        environment=plan.environment,
        deployment=plan.deployment,
        actor=ctx.actor,
        reason=plan.reason,
        how=how,
        began_at=run.began_at,
        broken_at=None,
        restored_at=restored_at,
        ended_at=ended_at,
        rto_s=None if restored_at is None else round((restored_at - run.began_at).total_seconds(), 2),
        rpo_s=None if newest is None else max(0.0, round((run.began_at - newest).total_seconds(), 2)),
        rto_target_s=plan.rto_target_s,
        rpo_target_s=plan.rpo_target_s,
        expected_fires=found.expected,
        findings=found.findings,
        faults=tuple(run.faults),
        steps=run.steps,
    )
    return replace(result, faults=faults_of(result))
