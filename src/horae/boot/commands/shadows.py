"""`horae shadow …`: jobs that fire nothing, compared with the system that they will replace."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Table

from horae.api.models.jobs import JobView
from horae.boot.commands.imports import text_of, zone_of
from horae.boot.output import Exit, answer
from horae.boot.schedule_files import fire_logs
from horae.boot.session import caller, out
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.jobs.shadows import ShadowComparison
from horae.domain.zones.zones import zone as loaded
from horae.service.encryption.encryption import decrypt_job_or_mark
from horae.service.jobs import shadows
from horae.service.jobs.shadows import Report

app = Verbs(no_args_is_help=True)
MAX_LISTED = 3


@app.command("list")
async def list_() -> None:
    """List the shadow jobs."""
    async with caller() as ctx:
        found = [await decrypt_job_or_mark(ctx, job) for job in await shadows.listing(ctx)]
    table = Table("name", "status", "owner")
    for job in found:
        table.add_row(job.name, job.status, job.definition.labels.get("horae.owner", ""))
    answer([JobView.of(job) for job in found], lambda: out.print(table))


@app.command()
async def report(
    log: Annotated[str, typer.Argument(help="The old system's log of fires: CSV, JSON lines, or a dump of its table.")],
    since: Annotated[
        datetime | None, typer.Option(help="From then on; its first line if omitted.", formats=[MOMENT])
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(help="Before then; its last line if omitted.", formats=[MOMENT])
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Seconds within which two fires may be one.")] = 60.0,
    zone: Annotated[str | None, typer.Option(help="The zone of times without an offset; this machine's.")] = None,
    name_column: Annotated[str | None, typer.Option(help="The column with a job's name.")] = None,
    time_column: Annotated[str | None, typer.Option(help="The column with the time of a fire.")] = None,
) -> None:
    """Compare what the shadow jobs would have fired with the log of the old system. Exits with 6 if they differ."""
    facts = fire_logs.read(text_of(log), loaded(zone_of(zone)), name_column, time_column)
    times = sorted(at for fires in facts.values() for at in fires)
    if not times and (since is None or until is None):
        raise Invalid("the log is empty: say --since and --until to see what would have been fired")
    first, last = since or times[0].replace(microsecond=0), until or times[-1] + timedelta(microseconds=1)
    async with caller() as ctx:
        made = await shadows.report(ctx, facts, first, last, timedelta(seconds=tolerance))
    answer(_facts(made), lambda: _show(made))
    if not made.same:
        raise typer.Exit(Exit.CHANGES)


def _show(made: Report) -> None:
    table = Table("job", "matched", "missing here", "extra here", "offset", "first that differ (UTC)")
    for one in made.compared:
        differ = sorted([*((at, "-") for at in one.missing), *((at, "+") for at in one.extra)])[:MAX_LISTED]
        examples = ", ".join(f"{sign}{moment(at)}" for at, sign in differ)
        counts = (one.matched, len(one.missing), len(one.extra))
        table.add_row(one.name, *map(str, counts), f"{one.offset.total_seconds():+.1f} s", examples)
    out.print(table)
    said = "the same" if made.same else "different"
    out.print(f"{moment(made.since)} to {moment(made.until)} UTC: {said}", highlight=False)
    if made.unknown:
        out.print(f"in the log, but no shadow here: {', '.join(made.unknown)}", highlight=False)


def _facts(made: Report) -> dict[str, Any]:
    jobs = [_job(one) for one in made.compared]
    return {"since": made.since, "until": made.until, "same": made.same, "jobs": jobs, "unknown": made.unknown}


def _job(one: ShadowComparison) -> dict[str, Any]:
    return {
        "name": one.name,
        "same": one.same,
        "matched": one.matched,
        "missing": one.missing,
        "extra": one.extra,
        "apart": one.apart,
        "offset_seconds": one.offset.total_seconds(),
    }
