"""`horae tenant …`."""

from typing import Annotated, Any

import typer
from msgspec.structs import replace
from rich.table import Table

from horae.api.models.tenants import TenantView
from horae.boot.sealing import opened_store
from horae.boot.session import load, name_cells_down, out, run
from horae.boot.telling import Verbs, answer, encoded, say
from horae.domain.ids import Prefix, public
from horae.domain.limits import Limit
from horae.domain.placement import DEFAULT_WIDTH
from horae.domain.tenants import Allowance, Standing
from horae.service import tenancies, tenants
from horae.store.cells import Store

app = Verbs(no_args_is_help=True)


@app.command()
def create(
    name: str,
    width: Annotated[
        int, typer.Option(help="Over how many shards its rows are spread: at least as many as there are nodes.")
    ] = DEFAULT_WIDTH,
    zone: Annotated[str, typer.Option(help="The zone of jobs that name none.")] = "UTC",
) -> None:
    """Make a tenant."""

    async def work() -> None:
        settings = load()
        async with opened_store(settings, settings.all_cells()) as store:
            tenant = await tenants.create(store, name, "cli", width=width, zone=zone)
        say(TenantView.of(tenant, Allowance()), f"tenant {name} created: {public(Prefix.TENANT, tenant.id)}")

    run(work)


@app.command("list")
def list_(limit: int = 100) -> None:
    """All tenants, by name."""

    async def work() -> None:
        down: set[str] = set()
        async with Store.of(load().all_cells()) as store:
            found = await tenants.page(store, None, limit, down)
        name_cells_down(down)
        table = Table("name", "width", "layout", "zone", "weight", "id")
        for one, allowance in found:
            id_ = public(Prefix.TENANT, one.id)
            table.add_row(one.name, str(one.width), one.layout, one.zone, str(allowance.weight), id_)
        answer([TenantView.of(*one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def allow(
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
    shortest_period: Annotated[
        float | None, typer.Option(help="Minimum number of seconds between two fires of a job.")
    ] = None,
) -> None:
    """Change what a tenant may use. What no option names stays as it is; without options it is shown."""
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

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            if is_change:
                tenant, allowance = await tenants.change_allowance(store, name, "cli", change)
            else:
                tenant, allowance = await tenants.read(store, name)
        view = TenantView.of(tenant, allowance)
        say(view, f"tenant {name} may use: {encoded(view.allowance)}")

    run(work)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were named."""
    return {key: value for key, value in options.items() if value is not None}


@app.command()
def widen(
    name: str,
    width: Annotated[int, typer.Option(help="Over how many shards its new jobs and keys are spread.")] = DEFAULT_WIDTH,
) -> None:
    """Spread the new jobs and keys of a tenant over more shards; what it has stays where it is."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            tenant = await tenants.widen(store, name, "cli", width)
            _, allowance = await tenants.read(store, name)
        say(TenantView.of(tenant, allowance), f"tenant {name} is {tenant.width} wide, {tenant.layout}")

    run(work)


@app.command()
def pause(name: str) -> None:
    """Stop all fires and claims of a tenant; what runs may finish."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            _stands(name, await tenancies.pause(store, name, "cli"))

    run(work)


@app.command()
def resume(name: str) -> None:
    """Go on from now; what passed is recorded as skipped."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            _stands(name, await tenancies.resume(store, name, "cli"))

    run(work)


@app.command()
def remove(name: str, confirm: Annotated[str, typer.Option(help="The tenant's name once more.")]) -> None:
    """Close a tenant for ever; all that belongs to it is purged in time."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            _stands(name, await tenancies.remove(store, name, "cli", confirm=confirm))

    run(work)


def _stands(name: str, standing: Standing) -> None:
    say({"name": name, "status": standing}, f"tenant {name} {standing}")
