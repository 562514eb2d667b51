"""`horae forecast`: the coming load, its busiest seconds, and a plan that spreads the jobs of such a second."""

from datetime import datetime
from typing import Annotated, Final

import typer

from horae.boot.commands.plan_lines import print_plan
from horae.boot.output import Exit, answer, err, out, wants_json
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae_client.asked import jobs as asked
from horae_client.asked import plans
from horae_client.models import AppliedPlan, Peak, Plan, SpreadProposal

NAMED: Final = 5
"""Jobs that are named in one line."""
MOST_JOBS: Final = 500
"""Jobs of the busiest second that one proposal takes."""
WITHIN_S: Final = 300
Hours = Annotated[float, typer.Option(help="How far ahead.")]
STAYS: Final = {
    "UNKNOWN": "no job with a cron expression or an interval has this name",
    "NOT_COUNTED": "it fires too often to be counted",
    "EXACT": "its owner needs its exact second",
    "ALREADY_SPREAD": "it has a window or a jitter already",
    "OCCURRENCES": "single fires of it were skipped or moved",
    "MAX_COUNT": "it stops after a number of fires",
    "FRACTIONS": "its interval does not fall on whole seconds",
    "NO_ROOM": "the time to its next fire, or half of its late_after, is too short",
    "NO_GAIN": "no second that it can reach is calmer",
}
app = Verbs(no_args_is_help=False)


@app.alone
async def forecast(hours: Hours = 24) -> None:
    """Show how many fires are coming, and the busiest seconds."""
    async with remote() as api:
        reply = await api.ask(asked.forecast(hours))
    found = reply.value
    title = f"{found.total} fires in the next {hours:g} h"
    if not found.complete:
        title += f" of the {found.jobs} jobs that fire least: the others are too many to count"
    rows = []
    for one in found.worst:
        who = one["jobs"]
        names = ", ".join(who[:NAMED]) + (" …" if len(who) > NAMED else "")
        rows.append((moment(datetime.fromisoformat(one["at"])), one["fires"], names))
    columns = ("second (UTC)", "fires", "jobs")
    answer_rows(reply.facts, columns, rows, empty="no second is busy", wraps=("jobs",), title=title)


@app.command()
async def worst(
    hours: Hours = 24,
    seconds: Annotated[int, typer.Option(help="How many seconds.")] = 10,
) -> None:
    """List the busiest seconds, with the jobs that fire in each and their owners."""
    async with remote() as api:
        reply = await api.ask(asked.worst_seconds(hours, None, seconds, MOST_JOBS))
    rows = [
        (moment(one.at), one.fires, job.name, job.owner or "", job.fires)
        for one in reply.value.seconds
        for job in one.jobs
    ]
    columns = ("second (UTC)", "fires", "job", "owner", "fires of the job")
    answer_rows(reply.facts, columns, rows, empty="no second is busy", wraps=("job",))


@app.command()
async def spread(
    jobs: Annotated[list[str] | None, typer.Argument(help="Jobs; if omitted, those of the busiest second.")] = None,
    within: Annotated[int, typer.Option(help="Delay no fire by more than this many seconds.")] = WITHIN_S,
    hours: Hours = 24,
    apply: Annotated[bool, typer.Option("--apply", help="Set the windows.")] = False,
) -> None:
    """Print a plan that spreads jobs over calmer seconds, and with `--apply` apply it."""
    async with remote() as api:
        named = jobs or []
        if not named:
            busiest = (await api.ask(asked.worst_seconds(hours, None, 1, MOST_JOBS))).value.seconds
            named = [job.name for second in busiest for job in second.jobs]
        if not named:
            raise Invalid("no job fires in this time: there is nothing to spread")
        reply = await api.ask(asked.propose_spread(named, hours, within))
        windows = (reply.value.plan or {}).get("spread", {})
        made: Reply[Plan] | Reply[AppliedPlan] | None = None
        if windows and apply:
            made = await api.ask(plans.apply_spread(windows))
        elif windows:
            made = await api.ask(plans.make_spread(windows))
    done = made.value.done if made is not None and isinstance(made.value, AppliedPlan) else ()

    def show() -> None:
        _print_peaks(reply.value)
        if made is not None:
            print_plan(made.value)

    answer({"proposal": reply.facts, "plan": None if made is None else made.facts, "applied": apply}, show)
    refused = [one for one in done if one.code is not None]
    for one in refused:
        err.print(f"{one.name}: {one.code} {one.message}", highlight=False)
    if apply and not wants_json():
        out.print(f"applied: {len(done) - len(refused)} done, {len(refused)} refused", highlight=False)
    if refused:
        raise typer.Exit(Exit.REFUSED)
    if made is not None and made.value.counts.get("conflict"):
        raise typer.Exit(Exit.CONFLICT)


def _print_peaks(found: SpreadProposal) -> None:
    out.print(f"busiest second of all jobs:   {_peak(found.before)} → {_peak(found.after)}", highlight=False)
    out.print(f"busiest second of these jobs: {_peak(found.own_before)} → {_peak(found.own_after)}", highlight=False)
    for move in found.moves:
        declared = f"; declare the window in {move.source!r} too" if move.source else ""
        text = f"{move.job}: window {move.window} s, so {move.later_s} s later{declared}"
        out.print(text, highlight=False, soft_wrap=True)
    for stay in found.stays:
        out.print(f"{stay.job}: stays: {STAYS.get(stay.reason, stay.reason)}", highlight=False, soft_wrap=True)


def _peak(peak: Peak | None) -> str:
    return "none" if peak is None else f"{peak.fires} at {moment(peak.at)}"
