"""`horae secret …`. Values are read from a prompt or a pipe, never from arguments, which other users may see."""

import sys
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.secrets import SecretView
from horae.boot.output import answer, say
from horae.boot.session import PAGE, all_pages, caller, out
from horae.boot.verbs import Verbs
from horae.domain.encryption.secrets import Secret
from horae.service.encryption import secrets

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]
Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="A host it may be sent to, or *.example.com; several times. As before where omitted."),
]
Anywhere = Annotated[bool, typer.Option("--any-host", help="It may be sent to every host.")]


@app.command()
async def put(name: str, host: Hosts = None, any_host: Anywhere = False, tenant: Of = None) -> None:
    """Store a value under a name; it replaces an older value. The value is prompted for, or read from a pipe."""
    value = typer.prompt("value", hide_input=True) if sys.stdin.isatty() else sys.stdin.read().removesuffix("\n")
    async with caller(tenant) as ctx:
        kept = await secrets.put(ctx, name, value, [] if any_host else host or None)
        say(SecretView.of(kept), f"secret {kept.name}, version {kept.version}, for {_hosts(kept)}")


@app.command("list")
async def listing(tenant: Of = None) -> None:
    """List the names of all secrets. Values are never printed."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: secrets.page(ctx, last.name if last else "", PAGE))
    table = Table("name", "version", "hosts", "changed (UTC)", "by")
    for one in found:
        at = f"{one.changed_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(one.name, str(one.version), _hosts(one), at, one.changed_by)
    answer([SecretView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def remove(name: str, tenant: Of = None) -> None:
    """Remove a secret."""
    async with caller(tenant) as ctx:
        gone = await secrets.remove(ctx, name)
        say(SecretView.of(gone), f"secret {gone.name} is gone")


def _hosts(secret: Secret) -> str:
    return ", ".join(secret.hosts) or "any host"
