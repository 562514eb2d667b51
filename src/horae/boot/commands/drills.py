"""`horae drill …`: breaks something on purpose, measures how it is survived, and takes the way back."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from horae.boot.commands.drill_options import (
    CONFIG,
    FIRES_PER_S,
    HERE,
    HOLD_S,
    LIMIT_S,
    LONGEST_LIMIT_S,
    LOOPBACK,
    MOST_LISTED,
    PGBACKREST,
    RESTORE_LIMIT_S,
    SHORTEST_LIMIT_S,
    CellName,
    Confirm,
    DrillOptions,
    Folder,
    Hold,
    Host,
    Limit,
    Pid,
    PidFile,
    Rate,
    Rpo,
    Rto,
    Settle,
    Unit,
)
from horae.boot.contexts import chosen
from horae.boot.drills import processes, report_files
from horae.boot.drills.faults import CellLoss, DrillFault, NodeLoss, OutageOfTargets, PrimaryLoss
from horae.boot.drills.receiver import DrillReceiver
from horae.boot.drills.restoring import run_restore
from horae.boot.drills.runner import SETTLE_S, DrillPlan, run_drill
from horae.boot.drills.scheduled import QUEUE, read_drills, worker_of
from horae.boot.drills.scratch_server import BackupPlace
from horae.boot.output import Exit, answer, name_cells_down, out
from horae.boot.owner_cells import owner_cells
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import load, platform_caller
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.drills.drills import PRODUCTION, DrillKind, check_place
from horae.domain.drills.recovery import SecondFigures
from horae.domain.drills.reports import RPO_TARGET_S, RTO_TARGET_S, DrillResult
from horae.domain.errors import HoraeError, Invalid
from horae.runtime.settings import Settings
from horae.service.certificates import signing_keys
from horae.service.context import PlatformContext
from horae.service.drills import history
from horae.store.health import health

app = Verbs(no_args_is_help=True)


@app.command("node-loss")
async def node_loss(
    pid: Pid = None,
    pid_file: PidFile = None,
    unit: Unit = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Freeze the node and continue it, instead of a kill.")
    ] = False,
    reason: Reason = None,
    confirm: Confirm = None,
    folder: Folder = HERE,
    fires: Rate = FIRES_PER_S,
    hold: Hold = HOLD_S,
    limit: Limit = LIMIT_S,
    rto: Rto = RTO_TARGET_S,
    rpo: Rpo = RPO_TARGET_S,
    settle: Settle = SETTLE_S,
    host: Host = LOOPBACK,
) -> None:
    """Kill one of several nodes, which its supervisor starts again. Staging and production."""
    options = DrillOptions(folder, reason, confirm, fires, hold, limit, rto, rpo, settle, host)

    def make(ctx: PlatformContext, _receiver: DrillReceiver) -> DrillFault:
        return NodeLoss(ctx, processes.find(pid, pid_file, unit), freeze=freeze)

    await _run(DrillKind.NODE_LOSS, options, make)


@app.command("outage-of-targets")
async def outage_of_targets(
    reason: Reason = None,
    folder: Folder = HERE,
    fires: Rate = FIRES_PER_S,
    hold: Hold = HOLD_S,
    limit: Limit = LIMIT_S,
    rto: Rto = RTO_TARGET_S,
    rpo: Rpo = RPO_TARGET_S,
    settle: Settle = SETTLE_S,
    host: Host = LOOPBACK,
) -> None:
    """Let the targets of the drill's own load answer with 503 for a while. Staging only."""
    options = DrillOptions(folder, reason, None, fires, hold, limit, rto, rpo, settle, host)
    await _run(DrillKind.OUTAGE_OF_TARGETS, options, lambda _ctx, receiver: OutageOfTargets(receiver))


@app.command("cell-loss")
async def cell_loss(
    cell: CellName = "cell-0",
    pid: Pid = None,
    pid_file: PidFile = None,
    unit: Unit = None,
    reason: Reason = None,
    folder: Folder = HERE,
    fires: Rate = FIRES_PER_S,
    hold: Hold = HOLD_S,
    limit: Limit = LIMIT_S,
    rto: Rto = RTO_TARGET_S,
    rpo: Rpo = RPO_TARGET_S,
    settle: Settle = SETTLE_S,
    host: Host = LOOPBACK,
) -> None:
    """Freeze the PostgreSQL of a cell on this host, and continue it. Staging only."""
    options = DrillOptions(folder, reason, None, fires, hold, limit, rto, rpo, settle, host)

    def make(ctx: PlatformContext, _receiver: DrillReceiver) -> DrillFault:
        return CellLoss(ctx, cell, processes.find(pid, pid_file, unit))

    await _run(DrillKind.CELL_LOSS, options, make)


@app.command("primary-loss")
async def primary_loss(
    patroni: Annotated[str, typer.Option("--patroni", help="The URL of the REST API of a member of Patroni.")],
    credential_file: Annotated[
        Path | None, typer.Option("--credential-file", help="A file with user:password of that API.")
    ] = None,
    cell: CellName = "cell-0",
    pid: Pid = None,
    pid_file: PidFile = None,
    reason: Reason = None,
    folder: Folder = HERE,
    fires: Rate = FIRES_PER_S,
    hold: Hold = HOLD_S,
    limit: Limit = LIMIT_S,
    rto: Rto = RTO_TARGET_S,
    rpo: Rpo = RPO_TARGET_S,
    settle: Settle = SETTLE_S,
    host: Host = LOOPBACK,
) -> None:
    """Take the primary of a cell away: by Patroni's switchover, or by a kill of its server on this host. In staging."""
    options = DrillOptions(folder, reason, None, fires, hold, limit, rto, rpo, settle, host)

    def make(ctx: PlatformContext, _receiver: DrillReceiver) -> DrillFault:
        server = None if pid is None and pid_file is None else processes.find(pid, pid_file, None)
        return PrimaryLoss(ctx, cell, patroni, credential_file, server)

    await _run(DrillKind.PRIMARY_LOSS, options, make)


@app.command("restore")
async def restore(
    cell: CellName = "cell-0",
    stanza: Annotated[str | None, typer.Option("--stanza", help="Its stanza; the name of the cell if omitted.")] = None,
    repository: Annotated[int, typer.Option("--repo", min=1, help="The repository of pgBackRest.")] = 1,
    config: Annotated[Path, typer.Option("--config", help="The settings of pgBackRest.")] = CONFIG,
    program: Annotated[Path, typer.Option("--pgbackrest", help="The program.")] = PGBACKREST,
    scratch: Annotated[
        Path | None,
        typer.Option("--scratch", help="A folder with room for a cell; that for temporary files if omitted."),
    ] = None,
    reason: Reason = None,
    folder: Folder = HERE,
    limit: Limit = RESTORE_LIMIT_S,
    rto: Rto = RTO_TARGET_S,
    rpo: Rpo = RPO_TARGET_S,
) -> None:
    """Restore the newest backup of a cell into a scratch server, open and verify it, and throw it away. In staging."""
    place = BackupPlace(cell, program, config, stanza or cell, repository, scratch or Path(tempfile.gettempdir()))
    options = DrillOptions(folder, reason, None, 0, SHORTEST_LIMIT_S / 2, limit, rto, rpo, SETTLE_S, LOOPBACK)
    async with _drilling(DrillKind.RESTORE, options) as drill:
        cells = owner_cells(load().all_cells())
        drill.result = await run_restore(drill.ctx, drill.plan, cells, place, drill.log)


@app.command("list")
async def list_(limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="How many.")] = 50) -> None:
    """List the drills that ended, newest first, with RTO and RPO of each."""
    async with platform_caller() as ctx:
        found = await history.page(ctx, None, limit)
        name_cells_down(ctx.cells_down)
    facts = [{"passed": one.result.passed, "report_sha256": one.report_sha256, "result": one.result} for one in found]
    columns = ("ended (UTC)", "drill", "passed", "RTO (s)", "RPO (s)", "late", "by", "how")
    rows = [_row(one.result) for one in found]
    answer_rows(facts, columns, rows, empty="no drill has ended yet", least=("late", "by"), wraps=("how",))


@app.command("work")
async def work(
    file: Annotated[Path, typer.Argument(help="A TOML file with the words of each drill that this host runs.")],
    queue: Annotated[str, typer.Option("--queue", help="The queue of the jobs that ask for drills.")] = QUEUE,
) -> None:
    """Run drills when jobs of the tenant drill ask for them, until SIGTERM. Needs a key with the role worker."""
    context = chosen(os.environ)
    worker = worker_of(read_drills(file), context.url, context.key, queue)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    await worker.serve()


@app.command("verify")
async def verify(
    folder: Annotated[Path, typer.Argument(help="The folder of one report.")],
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", help="The public half of the key that must have signed it: `horae keyring show`."),
    ] = None,
) -> None:
    """Check that a report is as it was signed. Exits with 1 if it is not."""
    found = report_files.faults(folder, public_key)
    text = "\n".join(found) or "the report is as it was signed"
    answer({"valid": not found, "faults": found}, lambda: out.print(text, highlight=False, soft_wrap=True))
    if found:
        raise typer.Exit(Exit.REFUSED)


async def _run(
    kind: DrillKind, options: DrillOptions, make: Callable[[PlatformContext, DrillReceiver], DrillFault]
) -> None:
    """Run a drill under load."""
    async with _drilling(kind, options) as drill:
        drill.result, drill.seconds = await run_drill(
            drill.ctx, drill.plan, lambda receiver: make(drill.ctx, receiver), drill.log
        )


@dataclass(slots=True)
class Drill:
    """A drill that may run. What it found is written into its report when the block of `_drilling` ends."""

    ctx: PlatformContext
    plan: DrillPlan
    log: Path
    result: DrillResult | None = None
    seconds: list[SecondFigures] = field(default_factory=list)


@asynccontextmanager
async def _drilling(kind: DrillKind, options: DrillOptions) -> AsyncIterator[Drill]:
    """Check the place and confirm before the block; write the report and record the result after it."""
    reason, settings = ask_reason(options.reason), load()
    if not SHORTEST_LIMIT_S <= options.limit_s <= LONGEST_LIMIT_S or not 0 < options.hold_s < options.limit_s:
        raise Invalid(f"a time limit is {SHORTEST_LIMIT_S:g} to {LONGEST_LIMIT_S:g} seconds, and longer than the fault")
    async with platform_caller() as ctx:
        await check_environment(ctx, kind, settings, options.confirm)
        key = await signing_keys.newest(ctx)  # before anything is broken
        folder = _new_folder(options.folder, kind, ctx)
        plan = DrillPlan(
            kind=kind,
            name=folder.name,
            environment=settings.environment,
            deployment=settings.deployment,
            reason=reason,
            fires_per_s=options.fires_per_s,
            hold_s=options.hold_s,
            limit_s=options.limit_s,
            rto_target_s=options.rto_s,
            rpo_target_s=options.rpo_s,
            settle_s=options.settle_s,
            host=options.host,
        )
        drill = Drill(ctx, plan, folder / "guardian.jsonl")
        try:
            yield drill
        except HoraeError:
            with suppress(OSError):
                folder.rmdir()  # a drill that was refused leaves no report
            raise
        assert drill.result is not None
        signed = report_files.write(folder, drill.result, drill.seconds, key)
        await history.record_ended(ctx, plan.name, drill.result, signed.sha256[report_files.JSON])
    show_result(drill.result, folder)


async def check_environment(ctx: PlatformContext, kind: DrillKind, settings: Settings, confirm: str | None) -> None:
    """Refuse a drill where it may not run. In production the name of the deployment is asked for on a terminal."""
    recorded = {}
    for cell in ctx.store.cells:
        async with cell.statement() as tx:
            recorded[cell.name] = await health.environment(tx) or ""
    typed = confirm
    if typed is None and settings.environment == PRODUCTION and sys.stdin.isatty():
        typed = str(typer.prompt("this breaks something in production; type the name of the deployment", err=True))
    check_place(kind, settings.environment, recorded, settings.deployment, typed or "")


def show_result(result: DrillResult, folder: Path) -> None:
    """Print the result. A drill that did not pass exits with 1."""
    rto = "not reached" if result.rto_s is None else f"{result.rto_s:g} s"
    rpo = "not known" if result.rpo_s is None else f"{result.rpo_s:g} s"
    lines = [f"{result.kind} {'passed' if result.passed else 'failed'}: RTO {rto}, RPO {rpo}; report in {folder}"]
    lines += [f"  {fault}" for fault in result.faults]
    facts = {"passed": result.passed, "folder": str(folder), "result": result}
    answer(facts, lambda: out.print("\n".join(lines), highlight=False, soft_wrap=True))
    if not result.passed:
        raise typer.Exit(Exit.REFUSED)


def _row(one: DrillResult) -> tuple[object, ...]:
    passed = "yes" if one.passed else "no"
    return (moment(one.ended_at), one.kind, passed, one.rto_s, one.rpo_s, one.late, one.actor, one.how)


def _new_folder(parent: Path, kind: DrillKind, ctx: PlatformContext) -> Path:
    now = ctx.store.clock.now()
    folder = parent / f"{kind}-{now:%Y%m%dt%H%M%S}-{now.microsecond // 1000:03}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise Invalid(f"the folder {folder} for the report cannot be made: {error.strerror}") from error
    return folder
