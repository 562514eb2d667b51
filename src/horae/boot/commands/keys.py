"""`horae keys …`: for whoever can reach the database itself."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.identity import ActionView, BindingView, KeyView, MadeKey
from horae.boot.commands.schedules import moment
from horae.boot.sealing import opened_store
from horae.boot.session import caller, load, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private
from horae.domain.tenants import SYSTEM
from horae.security.roles import Role
from horae.security.table import markdown
from horae.service import keys, roles, tenants
from horae.service.keys import Made

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="Whose key; the configured tenant's where omitted.")]


@app.command()
def bootstrap() -> None:
    """The first key: an admin of the platform. It is made once; later ones are made with it."""

    async def work() -> None:
        settings = load()
        async with opened_store(settings, settings.all_cells()) as store:
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


@app.command("list")
def list_(tenant: Of = None, limit: int = 100) -> None:
    """The keys of a tenant, revoked ones too; never their text."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            found = await keys.page(ctx, None, limit)
            bound = await roles.of_keys(ctx, found)
            views = [KeyView.of(key, bound.get(key.principal, ())) for key in found]
            table = Table(
                "name", "roles", "scopes", "made (UTC)", "by", "expires (UTC)", "revoked (UTC)", "used (UTC)", "id"
            )
            for key in views:
                times = (moment(at) for at in (key.expires_at, key.revoked_at, key.last_used_at))
                held, scopes = ", ".join(key.roles) or "none", ", ".join(key.scopes) or "all"
                table.add_row(key.name, held, scopes, moment(key.created_at), key.created_by, *times, key.id)
            answer(views, lambda: out.print(table))

    run(work)


@app.command()
def revoke(key_id: str, tenant: Of = None) -> None:
    """Close a key for ever; it is refused everywhere within five seconds."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            revoked = await keys.revoke(ctx, private(Prefix.KEY, key_id))
            say(KeyView.of(revoked), f"key {revoked.name} is revoked")

    run(work)


@app.command()
def bind(
    principal: Annotated[str, typer.Argument(help="key_…, user:… or group:…")],
    role: Annotated[list[Role] | None, typer.Option(help="May be given several times; none takes all away.")] = None,
    tenant: Of = None,
) -> None:
    """Give a key, a person or a group these roles in a tenant and no others."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            bound = await roles.bind(ctx, principal, role or ())
            say(BindingView.of(bound), f"{bound.principal}: {', '.join(bound.roles) or 'no role'}")

    run(work)


@app.command("roles")
def table() -> None:
    """What each role may do, as the page docs/api/roles.md has it."""
    answer(ActionView.all(), lambda: out.print(markdown(), highlight=False, soft_wrap=True, end=""))


def _show(made: Made) -> None:
    title = f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:"
    say(MadeKey.made(made), f"{title}\n{made.text}")
