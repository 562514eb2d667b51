"""`horae key …`. All of it goes over HTTP, except `bootstrap`, which makes the first key in PostgreSQL itself."""

from typing import Annotated

import typer

from horae.boot.commands.bootstrap import bootstrap
from horae.boot.output import answer, out, say
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.security.roles import Role
from horae_client import keys
from horae_client.asked import identity as asked
from horae_client.asked import tenants
from horae_client.models import CreatedApiKey

app = Verbs(no_args_is_help=True)
app.command()(bootstrap)


@app.command()
async def create(
    name: str,
    role: Annotated[list[Role], typer.Option(help="What its holder is; may be given several times.")],
    tenant: Annotated[
        str | None, typer.Option(help="Another tenant than your own; this needs a key of the tenant `system`.")
    ] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Narrow it to an action, such as jobs.*")] = None,
    job_label: Annotated[
        list[str] | None,
        typer.Option(help="Bind it to jobs with this label, such as horae.owner=billing; several times."),
    ] = None,
) -> None:
    """Create a key; its text is shown now and never again."""
    labels = dict(one.partition("=")[::2] for one in job_label or ())
    body = asked.new_key(name, role, scope or (), None, labels)
    async with remote() as api:
        _show(await api.ask(asked.create_key(body) if tenant is None else tenants.create_key(tenant, body)))


@app.command("list")
async def list_(limit: int = 100) -> None:
    """List the keys of the tenant, including revoked ones; their texts are never shown."""
    async with remote() as api:
        found = await api.items(asked.keys(), limit)
    rows = [
        (
            key.name,
            ", ".join(key.roles) or "none",
            ", ".join(key.scopes) or "all",
            moment(key.created_at),
            key.created_by,
            moment(key.expires_at),
            moment(key.revoked_at),
            moment(key.last_used_at),
            key.id,
        )
        for key in found.value
    ]
    columns = ("name", "roles", "scopes", "made (UTC)", "by", "expires (UTC)", "revoked (UTC)", "used (UTC)", "id")
    least = ("by", "scopes", "made (UTC)", "expires (UTC)", "used (UTC)", "revoked (UTC)")
    answer_rows(found.facts, columns, rows, empty="there are no keys", least=least)


@app.command()
async def revoke(key_id: str) -> None:
    """Revoke a key; it is refused everywhere within five seconds."""
    async with remote() as api:
        revoked = await api.ask(asked.revoke_key(key_id))
    say(revoked.facts, f"key {revoked.value.name} is revoked")


@app.command()
async def bind(
    principal: Annotated[str, typer.Argument(help="key_…, user:… or group:…")],
    role: Annotated[list[Role] | None, typer.Option(help="May be given several times; none takes all away.")] = None,
) -> None:
    """Give a key, a person or a group exactly these roles in the tenant."""
    async with remote() as api:
        bound = await api.ask(asked.bind(principal, role or (), keys.made()))
    say(bound.facts, f"{bound.value.principal}: {', '.join(bound.value.roles) or 'no role'}")


@app.command("roles")
def table() -> None:
    """Show what each role may do, as on the page docs/api/roles.md."""
    from horae.api.models.identity import ActionView  # noqa: PLC0415 - it loads the API, which other commands do without
    from horae.security.table import markdown  # noqa: PLC0415

    answer(ActionView.all(), lambda: out.print(markdown(), highlight=False, soft_wrap=True, end=""))


def _show(made: Reply[CreatedApiKey]) -> None:
    key = made.value
    say(made.facts, f"key {key.name} ({key.id}), {', '.join(key.roles)}; shown once:\n{key.key}")
