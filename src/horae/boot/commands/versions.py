"""`horae job show|label|versions|diff`: details of a job, and its labels."""

from typing import Annotated, Any

import typer

from horae.boot.commands.job_lines import answer_job, print_job
from horae.boot.commands.job_refs import JobRef
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae_client import keys
from horae_client.asked import jobs as asked
from horae_client.wire import Request, path


async def show(job: JobRef) -> None:
    """Show one job: how it was understood, its target, its next fires, and what holds it back."""
    async with remote() as api:
        reply = await api.ask(asked.get(job))
    print_job(reply.facts, reply.value)


async def label(
    job: JobRef,
    labels: Annotated[list[str], typer.Argument(help="key=value sets a label; key- takes it away.")],
) -> None:
    """Set or remove labels."""
    wanted: dict[str, str | None] = {}
    for one in labels:
        key, equals, value = one.partition("=")
        if not equals and not one.endswith("-"):
            raise typer.BadParameter(f"{one!r} is neither key=value nor key-")
        wanted[key if equals else one[:-1]] = value if equals else None
    async with remote() as api:
        await answer_job(api, await api.ask(asked.label(job, wanted, keys.made())))


async def listing(job: JobRef, limit: int = 50) -> None:
    """List a job's versions, newest first, with time and author."""
    async with remote() as api:
        found = await api.items(asked.versions(job), limit)
    rows = [(one.version, moment(one.created_at), one.created_by) for one in found.value]
    answer_rows(found.facts, ("version", "made (UTC)", "by"), rows, empty="no version is kept")


async def diff(job: JobRef, before: int, after: int) -> None:
    """Show the differences between two versions of a job, field by field."""
    query = {"before": before, "after": after}
    async with remote() as api:
        found = await api.ask(Request("GET", path("jobs", job, "diff"), list[dict[str, Any]], query=query))
    say(found.facts, "\n".join(one["text"] for one in found.value) or "no difference")
