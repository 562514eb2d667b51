"""`horae calendar …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.boot.session import caller, out, run
from horae.domain.errors import Invalid
from horae.service import calendars

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_() -> None:
    """All calendars of the tenant."""

    async def work() -> None:
        async with caller() as ctx:
            table = Table("name", "known from", "to", "weekdays", "added", "removed")
            for one in await calendars.listing(ctx):
                weekdays = ",".join(map(str, sorted(one.weekdays)))
                table.add_row(
                    one.name, str(one.first), str(one.last), weekdays, str(len(one.added)), str(len(one.removed))
                )
            out.print(table)

    run(work)


@app.command("import")
def import_(
    country: Annotated[str, typer.Argument(help="A country code, for example CN.")],
    first: Annotated[int, typer.Argument(help="The first year.")],
    last: Annotated[int, typer.Argument(help="The last year.")],
    name: Annotated[str | None, typer.Option(help="The calendars' name; the country's code where omitted.")] = None,
) -> None:
    """A country's workdays and holidays; years that nobody has published are refused. Needs the extra `calendars`."""

    async def work() -> None:
        try:
            from horae.service.imports import holidays  # noqa: PLC0415 - the package behind it is optional
        except ImportError as error:
            raise Invalid("this needs the extra: pip install 'horae[calendars]'") from error
        made = holidays.read(name or country, country, range(first, last + 1))
        async with caller() as ctx:
            for calendar in made:
                moved = await calendars.put(ctx, calendar)
                out.print(
                    f"{calendar.name}: {calendar.first} to {calendar.last}, {len(moved)} jobs moved", highlight=False
                )

    run(work)
