"""`horae secrets …`: values are read from a prompt or a pipe, never from the command line, which others may see."""

import sys
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.secrets import SecretView
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.secrets import Secret
from horae.service import secrets

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="Whose; the configured tenant's where omitted.")]
Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="A host it may be sent to, or *.example.com; several times. As before where omitted."),
]
Anywhere = Annotated[bool, typer.Option("--any-host", help="It may be sent to every host.")]
MOST = 200


@app.command()
def put(name: str, host: Hosts = None, any_host: Anywhere = False, tenant: Of = None) -> None:
    """Keep a value under a name, in the place of the one before. It is asked for, or read from a pipe."""
    value = typer.prompt("value", hide_input=True) if sys.stdin.isatty() else sys.stdin.read().removesuffix("\n")

    async def work() -> None:
        async with caller(tenant) as ctx:
            kept = await secrets.put(ctx, name, value, [] if any_host else host or None)
            say(SecretView.of(kept), f"secret {kept.name}, version {kept.version}, for {_hosts(kept)}")

    run(work)


@app.command("list")
def listing(tenant: Of = None) -> None:
    """The names of all secrets; their values are never told."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            found: list[Secret] = []
            while page := await secrets.page(ctx, found[-1].name if found else "", MOST):
                found += page
        table = Table("name", "version", "hosts", "changed (UTC)", "by")
        for one in found:
            at = f"{one.changed_at:%Y-%m-%d %H:%M:%S}"
            table.add_row(one.name, str(one.version), _hosts(one), at, one.changed_by)
        answer([SecretView.of(one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def remove(name: str, tenant: Of = None) -> None:
    """Take a secret away."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            gone = await secrets.remove(ctx, name)
            say(SecretView.of(gone), f"secret {gone.name} is gone")

    run(work)


def _hosts(secret: Secret) -> str:
    return ", ".join(secret.hosts) or "any host"
