"""`horae key …`: for users with access to the database itself."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.identity import ActionView, ApiKeyView, CreatedApiKey, RoleBindingView
from horae.boot.commands.schedules import moment
from horae.boot.encryption import open_store
from horae.boot.output import answer, say
from horae.boot.session import caller, load, out
from horae.boot.verbs import Verbs
from horae.domain.errors import Conflict, NotFound
from horae.domain.ids import Prefix, private
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role
from horae.security.table import markdown
from horae.service.context import PlatformContext
from horae.service.identity import api_keys, role_bindings
from horae.service.identity.api_keys import CreatedKey
from horae.service.tenants import tenants

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]


@app.command()
async def bootstrap() -> None:
    """Create the first key, an admin of the platform. This works once; create other keys with this one."""
    settings = load()
    async with open_store(settings, settings.all_cells()) as store:
        try:
            await tenants.find(store, SYSTEM)
        except NotFound:
            await tenants.create(PlatformContext(store, "bootstrap"), SYSTEM, width=1)
    async with caller(SYSTEM) as ctx:
        try:
            _show(await api_keys.create(ctx, "bootstrap", [Role.ADMIN]))
        except Conflict as error:
            advice = (
                "`horae key create NAME --role admin --tenant system` makes another, `horae key revoke` ends this one"
            )
            raise Conflict(f"the first key was made before, and its text is shown only once: {advice}") from error


@app.command()
async def create(
    name: str,
    role: Annotated[list[Role], typer.Option(help="What its holder is; may be given several times.")],
    tenant: Of = None,
    scope: Annotated[list[str] | None, typer.Option(help="Narrow it to an action, such as jobs.*")] = None,
) -> None:
    """Create a key; its text is shown now and never again."""
    async with caller(tenant) as ctx:
        _show(await api_keys.create(ctx, name, role, scopes=scope or ()))


@app.command("list")
async def list_(tenant: Of = None, limit: int = 100) -> None:
    """List the keys of a tenant, including revoked ones; their texts are never shown."""
    async with caller(tenant) as ctx:
        found = await api_keys.page(ctx, None, limit)
        bound = await role_bindings.of_keys(ctx, found)
        views = [ApiKeyView.of(key, bound.get(key.principal, ())) for key in found]
        table = Table(
            "name", "roles", "scopes", "made (UTC)", "by", "expires (UTC)", "revoked (UTC)", "used (UTC)", "id"
        )
        for key in views:
            times = (moment(at) for at in (key.expires_at, key.revoked_at, key.last_used_at))
            held, scopes = ", ".join(key.roles) or "none", ", ".join(key.scopes) or "all"
            table.add_row(key.name, held, scopes, moment(key.created_at), key.created_by, *times, key.id)
        answer(views, lambda: out.print(table))


@app.command()
async def revoke(key_id: str, tenant: Of = None) -> None:
    """Revoke a key; it is refused everywhere within five seconds."""
    async with caller(tenant) as ctx:
        revoked = await api_keys.revoke(ctx, private(Prefix.KEY, key_id))
        say(ApiKeyView.of(revoked), f"key {revoked.name} is revoked")


@app.command()
async def bind(
    principal: Annotated[str, typer.Argument(help="key_…, user:… or group:…")],
    role: Annotated[list[Role] | None, typer.Option(help="May be given several times; none takes all away.")] = None,
    tenant: Of = None,
) -> None:
    """Give a key, a person or a group exactly these roles in a tenant."""
    async with caller(tenant) as ctx:
        bound = await role_bindings.bind(ctx, principal, role or ())
        say(RoleBindingView.of(bound), f"{bound.principal}: {', '.join(bound.roles) or 'no role'}")


@app.command("roles")
def table() -> None:
    """Show what each role may do, as on the page docs/api/roles.md."""
    answer(ActionView.all(), lambda: out.print(markdown(), highlight=False, soft_wrap=True, end=""))


def _show(made: CreatedKey) -> None:
    title = f"key {made.key.name} ({made.key.principal}), {', '.join(made.roles)}; shown once:"
    say(CreatedApiKey.of_created(made), f"{title}\n{made.text}")
