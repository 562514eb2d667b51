"""`horae tenant …`."""

from typing import Annotated, Any

import typer
from msgspec.structs import replace
from rich.table import Table

from horae.api.models.tenants import TenantView
from horae.boot.encryption import open_store
from horae.boot.output import answer, say, to_json
from horae.boot.session import load, out, platform
from horae.boot.verbs import Verbs
from horae.domain.ids import Prefix, public
from horae.domain.limits.limits import Limit
from horae.domain.placement import DEFAULT_WIDTH
from horae.domain.tenants.tenants import Allowance, TenantStatus
from horae.service.context import PlatformContext
from horae.service.tenants import lifecycle, tenants

app = Verbs(no_args_is_help=True)


@app.command()
async def create(
    name: str,
    width: Annotated[
        int, typer.Option(help="Over how many shards its rows are spread: at least as many as there are nodes.")
    ] = DEFAULT_WIDTH,
    zone: Annotated[str, typer.Option(help="The zone of jobs that name none.")] = "UTC",
) -> None:
    """Create a tenant."""
    settings = load()
    async with open_store(settings, settings.all_cells()) as store:
        tenant = await tenants.create(PlatformContext(store, "cli"), name, width=width, zone=zone)
    say(TenantView.of(tenant, Allowance()), f"tenant {name} created: {public(Prefix.TENANT, tenant.id)}")


@app.command("list")
async def list_(limit: int = 100) -> None:
    """List all tenants by name."""
    async with platform() as ctx:
        found = await tenants.page(ctx, None, limit)
    table = Table("name", "width", "layout", "zone", "weight", "id")
    for one, allowance in found:
        id_ = public(Prefix.TENANT, one.id)
        table.add_row(one.name, str(one.width), one.layout, one.zone, str(allowance.weight), id_)
    answer([TenantView.of(*one) for one in found], lambda: out.print(table))


@app.command()
async def allow(
    name: str,
    weight: Annotated[int | None, typer.Option(help="Its part of a turn beside other tenants.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="Maximum number of calls a second, over all nodes; 0: any.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Maximum number of calls at once, over all nodes; 0: any.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Maximum number of jobs.")] = None,
    subscriptions: Annotated[int | None, typer.Option(help="Maximum number of subscriptions.")] = None,
    intakes: Annotated[int | None, typer.Option(help="Maximum number of intakes.")] = None,
    sources: Annotated[int | None, typer.Option(help="Maximum number of sources.")] = None,
    secrets: Annotated[int | None, typer.Option(help="Maximum number of secrets.")] = None,
    calendars: Annotated[int | None, typer.Option(help="Maximum number of calendars.")] = None,
    calendar_days: Annotated[
        int | None, typer.Option(help="Maximum number of single days that its calendars name together.")
    ] = None,
    keys: Annotated[int | None, typer.Option(help="Maximum number of API keys.")] = None,
    bindings: Annotated[int | None, typer.Option(help="Maximum number of people and groups with roles.")] = None,
    alert_channels: Annotated[int | None, typer.Option(help="Maximum number of alert channels.")] = None,
    alert_rules: Annotated[int | None, typer.Option(help="Maximum number of alert rules.")] = None,
    silences: Annotated[int | None, typer.Option(help="Maximum number of silences.")] = None,
    shortest_period: Annotated[
        float | None, typer.Option(help="Minimum number of seconds between two fires of a job.")
    ] = None,
) -> None:
    """Change what a tenant may use. What is not given stays as it is; without options, print the allowance."""
    limits = {"rate": rate, "concurrency": concurrency}
    counts = {
        "jobs": jobs,
        "subscriptions": subscriptions,
        "intakes": intakes,
        "sources": sources,
        "secrets": secrets,
        "calendars": calendars,
        "calendar_days": calendar_days,
        "keys": keys,
        "bindings": bindings,
        "alert_channels": alert_channels,
        "alert_rules": alert_rules,
        "silences": silences,
        "shortest_period": shortest_period,
    }
    is_change = weight is not None or any(value is not None for value in (*limits.values(), *counts.values()))

    def change(before: Allowance) -> Allowance:
        limit = replace(before.limit or Limit(), **{key: value or None for key, value in _given(limits).items()})
        return replace(
            before,
            weight=before.weight if weight is None else weight,
            limit=limit if limit.limits else None,
            counts=replace(before.counts, **_given(counts)),
        )

    async with platform() as ctx:
        if is_change:
            tenant, allowance = await tenants.change_allowance(ctx, name, change)
        else:
            tenant, allowance = await tenants.read(ctx, name)
    view = TenantView.of(tenant, allowance)
    say(view, f"tenant {name} may use: {to_json(view.allowance)}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {key: value for key, value in options.items() if value is not None}


@app.command()
async def widen(
    name: str,
    width: Annotated[int, typer.Option(help="Over how many shards its new jobs and keys are spread.")] = DEFAULT_WIDTH,
) -> None:
    """Spread the new jobs and keys of a tenant over more shards; existing rows stay where they are."""
    async with platform() as ctx:
        tenant = await tenants.widen(ctx, name, width)
        _, allowance = await tenants.read(ctx, name)
    say(TenantView.of(tenant, allowance), f"tenant {name} is {tenant.width} wide, {tenant.layout}")


@app.command()
async def pause(name: str) -> None:
    """Stop all fires and claims of a tenant; running instances may finish."""
    async with platform() as ctx:
        _stands(name, await lifecycle.pause(ctx, name))


@app.command()
async def resume(name: str) -> None:
    """Continue from now; fires that were missed meanwhile are recorded as skipped."""
    async with platform() as ctx:
        _stands(name, await lifecycle.resume(ctx, name))


@app.command()
async def remove(name: str, confirm: Annotated[str, typer.Option(help="The tenant's name once more.")]) -> None:
    """Remove a tenant for good; everything that belongs to it is purged in the background."""
    async with platform() as ctx:
        _stands(name, await lifecycle.remove(ctx, name, confirm=confirm))


def _stands(name: str, standing: TenantStatus) -> None:
    say({"name": name, "status": standing}, f"tenant {name} {standing}")
