"""`horae calendar …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.operations import CalendarView, SavedCalendarView
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.service.schedules import calendars

app = Verbs(no_args_is_help=True)


@app.command("list")
async def list_() -> None:
    """List the calendars of the tenant."""
    async with caller() as ctx:
        table = Table("name", "known from", "to", "weekdays", "added", "removed")
        found = await calendars.listing(ctx)
        for one in found:
            weekdays = ",".join(map(str, sorted(one.weekdays)))
            table.add_row(one.name, str(one.first), str(one.last), weekdays, str(len(one.added)), str(len(one.removed)))
        answer([CalendarView.of(one) for one in found], lambda: out.print(table))


@app.command("import")
async def import_(
    country: Annotated[str, typer.Argument(help="A country code, for example CN.")],
    first: Annotated[int, typer.Argument(help="The first year.")],
    last: Annotated[int, typer.Argument(help="The last year.")],
    name: Annotated[str | None, typer.Option(help="The calendars' name; the country's code where omitted.")] = None,
) -> None:
    """Import a country's workdays and holidays; years not yet published are refused. Needs the extra `calendars`."""
    try:
        from horae.service.imports import holidays  # noqa: PLC0415 - the package behind it is optional
    except ImportError as error:
        raise Invalid("this needs the extra: pip install 'horae[calendars]'") from error
    made = holidays.read(name or country, country, range(first, last + 1))
    async with caller() as ctx:
        done = [(calendar, await calendars.put(ctx, calendar)) for calendar in made]
    facts = [SavedCalendarView(**CalendarView.of(one).model_dump(), moved=moved) for one, moved in done]
    lines = [f"{one.name}: {one.first} to {one.last}, {len(moved)} jobs moved" for one, moved in done]
    answer(facts, lambda: out.print("\n".join(lines), highlight=False))
