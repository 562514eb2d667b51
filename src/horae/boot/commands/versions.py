"""`horae job show|label|versions|diff`: details of a job, and its labels."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.versions import JobDifferenceView, JobVersionView
from horae.boot.commands.schedules import moment
from horae.boot.commands.schedules import show as tell
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.service.jobs import jobs, versions
from horae.service.limits import holds
from horae.service.schedules import schedules

Ref = Annotated[str, typer.Argument(metavar="JOB", help="A job's name, or its id (job_…).")]


async def show(job: Ref) -> None:
    """Show one job: how it was understood, its target, its next fires, and what holds it back."""
    async with caller() as ctx:
        found = await jobs.find_by_ref(ctx, job)
        await tell(ctx, found, held=await holds.of_job(ctx, found))


async def label(
    job: Ref,
    labels: Annotated[list[str], typer.Argument(help="key=value sets a label; key- takes it away.")],
) -> None:
    """Set or remove labels."""
    wanted: dict[str, str | None] = {}
    for one in labels:
        key, equals, value = one.partition("=")
        if not equals and not one.endswith("-"):
            raise typer.BadParameter(f"{one!r} is neither key=value nor key-")
        wanted[key if equals else one[:-1]] = value if equals else None
    async with caller() as ctx:
        await tell(ctx, await schedules.label(ctx, (await jobs.find_by_ref(ctx, job)).name, wanted))


async def listing(job: Ref, limit: int = 50) -> None:
    """List a job's versions, newest first, with time and author."""
    async with caller() as ctx:
        found = await versions.listing(ctx, await jobs.find_by_ref(ctx, job, removed=True), limit=limit)
    table = Table("version", "made (UTC)", "by")
    for one in found:
        table.add_row(str(one.version), moment(one.created_at), one.created_by)
    answer([JobVersionView.of(one) for one in found], lambda: out.print(table))


async def diff(job: Ref, before: int, after: int) -> None:
    """Show the differences between two versions of a job, field by field."""
    async with caller() as ctx:
        found = await versions.diff(ctx, await jobs.find_by_ref(ctx, job, removed=True), before, after)
    text = "\n".join(one.text for one in found) or "no difference"
    facts = [JobDifferenceView.of(one) for one in found]
    answer(facts, lambda: out.print(text, highlight=False, soft_wrap=True))
