"""`horae source …`: where a business lists its pending tasks, and what was repaired with such a list."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from horae.boot.output import answer, out, say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae_client import keys
from horae_client.asked import sources as asked
from horae_client.models import Source
from horae_client.wire import Request, path

app = Verbs(no_args_is_help=True)
Type = Annotated[str, typer.Argument(metavar="TYPE", help="The type whose tasks the source lists.")]
File = Annotated[Path | None, typer.Option("--file", help="JSON as the API takes it; read from a pipe where omitted.")]
MOST: Final = 50


@app.command()
async def put(type_name: Type, file: File = None) -> None:
    """Set the source of a type, which lists its tasks. It replaces an older source."""
    text = sys.stdin.read() if file is None else file.read_text()
    try:
        body = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise Invalid(f"this is no source: {error}") from error
    async with remote() as api:
        kept = await api.ask(Request("PUT", path("sources", type_name), Source, body=body, key=keys.made()))
    say(kept.facts, f"source of {type_name}, revision {kept.value.revision}; a round begins")


@app.command("list")
async def listing() -> None:
    """List the sources of the tenant, with the drift of their last rounds."""
    async with remote() as api:
        found = await api.items(asked.sources())
    rows = [
        (
            one.type,
            one.spec["origin"]["kind"],
            one.last.number if one.last else "",
            one.drift,
            "paused" if facts.get("paused_at") else "yes" if one.running else "",
            moment(one.next_at),
            one.last.error if one.last else "",
        )
        for one, facts in zip(found.value, found.facts, strict=True)
    ]
    columns = ("type", "kind", "round", "drift", "running", "next (UTC)", "error")
    least = ("kind", "round", "next (UTC)")
    answer_rows(found.facts, columns, rows, empty="there are no sources", least=least, wraps=("error",))


@app.command()
async def show(type_name: Type) -> None:
    """Show one source: its definition, and how its last round went."""
    async with remote() as api:
        reply = await api.ask(asked.get(type_name))
    answer(reply.facts, lambda: out.print_json(msgspec.json.encode(reply.facts).decode()))


@app.command("run")
async def ask(
    type_name: Type, dry: Annotated[bool, typer.Option("--dry", help="Find differences and change nothing.")] = False
) -> None:
    """Request a round now; a node begins it within seconds."""
    async with remote() as api:
        reply = await api.ask(asked.run(type_name, dry, keys.made()))
    say(reply.facts, f"round {reply.value.round + 1} of {type_name} was asked for")


@app.command()
async def pause(type_name: Type) -> None:
    """Pause a source: it repairs nothing, and a round under way stops. Dry rounds still compare."""
    async with remote() as api:
        reply = await api.ask(Request("POST", path("sources", type_name, "pause"), Source))
    say(reply.facts, f"the source of {type_name} is paused")


@app.command()
async def resume(type_name: Type) -> None:
    """Resume a source with a round from the first key on."""
    async with remote() as api:
        reply = await api.ask(Request("POST", path("sources", type_name, "resume"), Source))
    say(reply.facts, f"the source of {type_name} goes on")


@app.command()
async def rounds(type_name: Type, limit: int = MOST) -> None:
    """List a source's rounds, newest first."""
    async with remote() as api:
        found = await api.items(asked.rounds(type_name), limit)
    rows = [
        (
            one.number,
            moment(one.began_at),
            one.status,
            "yes" if one.dry else "",
            one.counts["rows"],
            one.drift,
            *(one.counts[name] for name in ("created", "moved", "cancelled")),
            one.error,
        )
        for one in found.value
    ]
    columns = ("round", "began (UTC)", "status", "dry", "rows", "drift", "created", "moved", "cancelled", "error")
    least = ("dry", "rows", "created", "moved", "cancelled")
    answer_rows(found.facts, columns, rows, empty="there was no round yet", least=least, wraps=("error",))


@app.command()
async def repairs(
    type_name: Type,
    number: Annotated[int | None, typer.Option("--round", help="Only of this round.")] = None,
    limit: int = MOST,
) -> None:
    """List what rounds found and did, newest first; for a dry round, what it would have done."""
    async with remote() as api:
        found = await api.items(asked.repairs(type_name, number), limit)
    rows = [
        (
            moment(one.at),
            one.round,
            one.key,
            one.found,
            moment(one.ours),
            moment(one.theirs),
            one.decision or "(dry)",
        )
        for one in found.value
    ]
    columns = ("at (UTC)", "round", "key", "found", "ours", "theirs", "decision")
    least = ("round", "ours", "theirs")
    answer_rows(found.facts, columns, rows, empty="nothing had to be repaired", least=least)


@app.command()
async def remove(type_name: Type) -> None:
    """Remove a source: its tasks are no longer compared and stay as they are."""
    async with remote() as api:
        reply = await api.ask(asked.remove(type_name))
    say(reply.facts, f"the source of {type_name} is gone")
