"""`horae failure-cause …`."""

from typing import Annotated

import typer

from horae.boot.completion import complete_jobs
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import dead_letters as asked
from horae_client.models import FailureCauseDetail

app = Verbs(no_args_is_help=True)


@app.command("list")
async def list_(
    job: Annotated[str | None, typer.Option(help="Only causes of this job.", autocompletion=complete_jobs)] = None,
    limit: int = 50,
) -> None:
    """List why dead letters died, by job, error code and normalised message; most dead letters first."""
    async with remote() as api:
        found = await api.items(asked.failure_causes(job), limit)
    rows = [
        (
            one.open,
            one.last_hour,
            one.last_day,
            one.day_before,
            one.trend,
            one.job,
            one.target,
            one.error_code,
            one.message,
            moment(one.last_at),
            one.cause,
        )
        for one in found.value
    ]
    columns = ("open", "hour", "day", "day before", "trend", "job", "target", "code", "message", "last (UTC)", "id")
    least = ("day before", "target", "trend", "hour", "last (UTC)")
    answer_rows(
        found.facts, columns, rows, empty="no open dead letter has a known cause", least=least, wraps=("message",)
    )


@app.command("show")
async def show(cause: str) -> None:
    """Show a failure cause with samples, and what changed since they died."""
    async with remote() as api:
        found = await api.ask(asked.failure_cause(cause))
    say(found.facts, _described(found.value))


def _described(one: FailureCauseDetail) -> str:
    since = one.since_death
    job = "is gone" if since.job_version is None else f"is {since.job_status} in version {since.job_version}"
    ended = ", ".join(f"{many} {state}" for state, many in sorted(since.ended.items())) or "none"
    held = ", ".join(f"{hold.reason} at {hold.name} ({hold.waiting} wait)" for hold in since.held) or "nothing"
    lines = [
        f"{one.open} open dead letters of {one.job or one.job_id}: {one.error_code} {one.message}",
        f"last hour {one.last_hour}, last day {one.last_day}, day before {one.day_before}: {one.trend}",
        f"died in versions {one.oldest_version} to {one.newest_version}; the job {job}",
        f"ended since the newest death: {ended}",
        f"held back now: {held}",
        *(f"{moment(letter.created_at)}  {letter.instance_id}  {letter.error_msg}" for letter in one.samples),
    ]
    return "\n".join(lines)
