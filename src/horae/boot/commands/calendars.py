"""`horae calendar …`."""

from typing import Annotated

import msgspec
import typer

from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae_client.asked import calendars as asked

app = Verbs(no_args_is_help=True)


@app.command("list")
async def list_() -> None:
    """List the calendars of the tenant."""
    async with remote() as api:
        found = await api.items(asked.calendars())
    rows = [
        (one.name, one.first, one.last, ",".join(map(str, one.weekdays)), len(one.added), len(one.removed))
        for one in found.value
    ]
    columns = ("name", "known from", "to", "weekdays", "added", "removed")
    answer_rows(found.facts, columns, rows, empty="there are no calendars: `horae calendar import` makes some")


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
    async with remote() as api:
        done = [await api.ask(asked.put_calendar(one.name, _body(msgspec.to_builtins(one)))) for one in made]
    lines = [f"{one.name}: {one.first} to {one.last}, {len(one.moved)} jobs moved" for one in (r.value for r in done)]
    say([one.facts for one in done], "\n".join(lines))


def _body(facts: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if name != "name"}
