"""`horae shadow …`: jobs that fire nothing, compared with the system that they will replace."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.progress import Progress

from horae.boot.commands.imports import text_of, zone_of
from horae.boot.output import Exit, answer, err, out, wants_json
from horae.boot.remote import Remote, remote
from horae.boot.schedule_files import fire_logs
from horae.boot.tables import answer_rows, print_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.jobs.shadows import ShadowComparison, compare
from horae.domain.plans.plans import OWNER, SHADOW
from horae.domain.zones.zones import zone as loaded
from horae_client.asked import jobs as asked

app = Verbs(no_args_is_help=True)
MAX_LISTED: Final = 3
SHADOWS: Final = {"label": [SHADOW]}
"""The filter of shadow jobs."""


class Report(msgspec.Struct, frozen=True):
    """The comparison of every shadow job with the log. `unknown` has the names in the log that no shadow job has."""

    since: datetime
    until: datetime
    compared: list[ShadowComparison]
    unknown: list[str]

    @property
    def same(self) -> bool:
        """Whether both systems fired exactly the same."""
        return not self.unknown and all(one.same for one in self.compared)


@app.command("list")
async def list_() -> None:
    """List the shadow jobs."""
    async with remote() as api:
        found = await api.items(asked.listing(SHADOWS))
    rows = [(job.name, job.status, job.labels.get(OWNER)) for job in found.value]
    answer_rows(found.facts, ("name", "status", "owner"), rows, empty="there are no shadow jobs")


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
    async with remote() as api:
        made = await _compare(api, facts, first, last, timedelta(seconds=tolerance))
    answer(_facts(made), lambda: _show(made))
    if not made.same:
        raise typer.Exit(Exit.CHANGES)


async def _compare(
    api: Remote, log: Mapping[str, Sequence[datetime]], since: datetime, until: datetime, tolerance: timedelta
) -> Report:
    """Compare the fires of each shadow job from `since` to `until` (excluded) with its entries in the log."""
    jobs = (await api.items(asked.listing(SHADOWS))).value
    found = []
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        for job in bar.track(jobs, description="comparing"):
            ours = await api.client.jobs.expected_fires(job.name, since=since, until=until)
            theirs = [at for at in log.get(job.name, ()) if since - tolerance <= at < until + tolerance]
            found.append(compare(job.name, ours, theirs, tolerance))
    return Report(since, until, found, sorted(set(log) - {one.name for one in found}))


def _show(made: Report) -> None:
    rows = []
    for one in made.compared:
        differ = sorted([*((at, "-") for at in one.missing), *((at, "+") for at in one.extra)])[:MAX_LISTED]
        examples = ", ".join(f"{sign}{moment(at)}" for at, sign in differ)
        counts = (one.matched, len(one.missing), len(one.extra))
        rows.append((one.name, *counts, f"{one.offset.total_seconds():+.1f} s", examples))
    columns = ("job", "matched", "missing here", "extra here", "offset", "first that differ (UTC)")
    print_rows(columns, rows, empty="there are no shadow jobs", wraps=("first that differ (UTC)",))
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
