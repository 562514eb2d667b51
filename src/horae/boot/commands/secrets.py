"""`horae secret …`. Values are read from a prompt or a pipe, never from arguments, which other users may see."""

from typing import Annotated

import typer

from horae.boot.output import say
from horae.boot.prompts import secret_text
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import secrets as asked
from horae_client.models import Secret

app = Verbs(no_args_is_help=True)
Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="A host it may be sent to, or *.example.com; several times. As before where omitted."),
]
Anywhere = Annotated[bool, typer.Option("--any-host", help="It may be sent to every host.")]


@app.command()
async def put(name: str, host: Hosts = None, any_host: Anywhere = False) -> None:
    """Store a value under a name; it replaces an older value. The value is prompted for, or read from a pipe."""
    value = secret_text("value")
    async with remote() as api:
        kept = await api.ask(asked.put(name, value, [] if any_host else host or None))
    say(kept.facts, f"secret {name}, version {kept.value.version}, for {_hosts(kept.value)}")


@app.command("list")
async def listing() -> None:
    """List the names of all secrets. Values are never printed."""
    async with remote() as api:
        found = await api.items(asked.secrets())
    rows = [(one.name, one.version, _hosts(one), moment(one.changed_at), one.changed_by) for one in found.value]
    columns = ("name", "version", "hosts", "changed (UTC)", "by")
    answer_rows(found.facts, columns, rows, empty="there are no secrets", least=("by", "version"), wraps=("hosts",))


@app.command()
async def remove(name: str) -> None:
    """Remove a secret."""
    async with remote() as api:
        gone = await api.ask(asked.remove(name))
    say(gone.facts, f"secret {name} is gone")


def _hosts(secret: Secret) -> str:
    return ", ".join(secret.hosts) or "any host"
