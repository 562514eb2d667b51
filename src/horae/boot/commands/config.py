"""`horae config …`: the settings of this process, without their secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from horae.boot.output import Exit, answer, err, out, status_of, to_json
from horae.boot.settings_checks import Process, examine_settings
from horae.boot.verbs import Verbs
from horae.domain.errors import HoraeError
from horae.domain.health.doctor import Diagnosis, Severity, worst_first
from horae.runtime.settings import Settings, read_settings
from horae.runtime.settings.layers import read_layers
from horae.runtime.settings.places import OriginKind, SettingOrigin, variable_of
from horae.runtime.settings.redaction import redacted
from horae.runtime.settings.settings import GROUPS

app = Verbs(no_args_is_help=True)
COLOURS = {Severity.OK: "green", Severity.HINT: "yellow", Severity.FAULT: "red"}
ForProcess = Annotated[
    Process | None, typer.Option("--for", help="The process that will read the settings; both where omitted.")
]


@app.command()
def show(
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that are not at their default.")] = False,
) -> None:
    """Print every setting without secrets, and where it comes from: default, file, environment or secret file."""
    with _refusals():
        settings, origins = read_settings(), read_layers(Settings).origins
    values = redacted(settings)
    rows = [
        {"setting": name, "variable": variable_of((name,)), "value": values[name], "origins": _origins(origins, name)}
        for group in GROUPS
        for name in group.model_fields
        if name in origins or not changed
    ]
    answer(rows, lambda: out.print(_settings_table(rows)))


@app.command()
def check(process: ForProcess = None) -> None:
    """Check the settings without a network: rules, files, keys, DSNs, ports. Exits with 1 if a process would refuse."""
    with _refusals():
        settings = read_settings()
        found = worst_first(examine_settings(settings, process))
    answer([one._asdict() for one in found], lambda: out.print(_checks_table(found)))
    if any(one.level is Severity.FAULT for one in found):
        raise typer.Exit(Exit.REFUSED)


@contextmanager
def _refusals() -> Iterator[None]:
    """Print a refusal and end, as all commands do; without the store, which only commands with a database need."""
    try:
        yield
    except HoraeError as error:
        err.print(error.code, style="red", end=" ")
        err.print(str(error), highlight=False)
        raise typer.Exit(status_of(error)) from error


def _origins(origins: dict[str, tuple[SettingOrigin, ...]], name: str) -> list[dict[str, str]]:
    found = origins.get(name) or (SettingOrigin(OriginKind.DEFAULT),)
    return [{"kind": str(one.kind), "where": one.where} for one in found]


def _settings_table(rows: list[dict[str, Any]]) -> Table:
    table = Table("setting", "value", "from")
    for row in rows:
        value = row["value"]
        text = value if isinstance(value, str) else to_json(value)
        places = ", ".join(one["where"] or one["kind"] for one in row["origins"])
        table.add_row(row["variable"], "" if value in (None, "") else text, places)
    return table


def _checks_table(found: list[Diagnosis]) -> Table:
    table = Table("", "what", "found", "what to change")
    for one in found:
        table.add_row(Text(one.level, style=COLOURS[one.level]), one.name, one.found, one.advice)
    return table
