"""`horae job show|label|versions|diff`: a job looked at closely, and its labels."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.versions import DifferenceView, VersionView
from horae.boot.commands.schedules import moment
from horae.boot.commands.schedules import show as tell
from horae.boot.session import caller, out, run
from horae.boot.telling import answer
from horae.service import holds, jobs, schedules, versions

Ref = Annotated[str, typer.Argument(metavar="JOB", help="A job's name, or its id (job_…).")]


def show(job: Ref) -> None:
    """One job: what was understood, where it goes, its coming fires, and what holds it back."""

    async def work() -> None:
        async with caller() as ctx:
            found = await jobs.named(ctx, job)
            await tell(ctx, found, held=await holds.of_job(ctx, found))

    run(work)


def label(
    job: Ref,
    labels: Annotated[list[str], typer.Argument(help="key=value sets a label; key- takes it away.")],
) -> None:
    """Set labels, or take them away."""
    wanted: dict[str, str | None] = {}
    for one in labels:
        key, equals, value = one.partition("=")
        if not equals and not one.endswith("-"):
            raise typer.BadParameter(f"{one!r} is neither key=value nor key-")
        wanted[key if equals else one[:-1]] = value if equals else None

    async def work() -> None:
        async with caller() as ctx:
            await tell(ctx, await schedules.label(ctx, (await jobs.named(ctx, job)).name, wanted))

    run(work)


def listing(job: Ref, limit: int = 50) -> None:
    """A job's versions, newest first: when, and by whom."""

    async def work() -> None:
        async with caller() as ctx:
            found = await versions.listing(ctx, await jobs.named(ctx, job, removed=True), limit=limit)
        table = Table("version", "made (UTC)", "by")
        for one in found:
            table.add_row(str(one.version), moment(one.created_at), one.created_by)
        answer([VersionView.of(one) for one in found], lambda: out.print(table))

    run(work)


def diff(job: Ref, before: int, after: int) -> None:
    """What differs between two versions of a job, field by field."""

    async def work() -> None:
        async with caller() as ctx:
            found = await versions.diff(ctx, await jobs.named(ctx, job, removed=True), before, after)
        text = "\n".join(one.text for one in found) or "no difference"
        told = [DifferenceView.of(one) for one in found]
        answer(told, lambda: out.print(text, highlight=False, soft_wrap=True))

    run(work)
