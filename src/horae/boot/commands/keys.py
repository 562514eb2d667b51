"""`horae keys …`: for whoever can reach the database itself."""

from typing import Annotated

import typer

from horae.boot.session import caller, load, out, run
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private
from horae.domain.tenants import SYSTEM
from horae.security.roles import Role
from horae.security.table import markdown
from horae.service import keys, tenants
from horae.service.keys import Made
from horae.store.cells import Store

app = typer.Typer(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="Whose key; the configured tenant's where omitted.")]


@app.command()
def bootstrap() -> None:
    """The first key: an admin of the platform. It is made once; later ones are made with it."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            try:
                await tenants.find(store, SYSTEM)
            except NotFound:
                await tenants.create(store, SYSTEM, "bootstrap", width=1)
        async with caller(SYSTEM) as ctx:
            _show(await keys.create(ctx, "bootstrap", [Role.ADMIN]))

    run(work)


@app.command()
def create(
    name: str,
    role: Annotated[list[Role], typer.Option(help="What its holder is; may be given several times.")],
    tenant: Of = None,
    scope: Annotated[list[str] | None, typer.Option(help="Narrow it to an action, such as jobs.*")] = None,
) -> None:
    """Make a key; its text is shown now and never again."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _show(await keys.create(ctx, name, role, scopes=scope or ()))

    run(work)


@app.command()
def revoke(key_id: str, tenant: Of = None) -> None:
    """Close a key for ever; it is refused everywhere within five seconds."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            revoked = await keys.revoke(ctx, private(Prefix.KEY, key_id))
            out.print(f"key {revoked.name} is revoked", highlight=False)

    run(work)


@app.command("roles")
def table() -> None:
    """What each role may do, as the page docs/api/roles.md has it."""
    out.print(markdown(), highlight=False, markup=False, soft_wrap=True, end="")


def _show(made: Made) -> None:
    out.print(f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:", highlight=False)
    out.print(made.text, highlight=False, soft_wrap=True)
