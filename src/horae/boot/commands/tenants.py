"""`horae tenant …`."""

from typing import Annotated

import typer

from horae.boot.session import load, out, run
from horae.domain.ids import Prefix, public
from horae.domain.limits import Limit
from horae.domain.placement import DEFAULT_WIDTH
from horae.domain.tenants import Allowance
from horae.service import tenancies, tenants
from horae.store.cells import Store

app = typer.Typer(no_args_is_help=True)


@app.command()
def create(
    name: str,
    width: Annotated[int, typer.Option(help="Over how many shards its rows spread; fixed for ever.")] = DEFAULT_WIDTH,
    zone: Annotated[str, typer.Option(help="The zone of jobs that name none.")] = "UTC",
) -> None:
    """Make a tenant."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            tenant = await tenants.create(store, name, "cli", width=width, zone=zone)
        out.print(f"tenant {tenant.name} created: {public(Prefix.TENANT, tenant.id)}", highlight=False)

    run(work)


@app.command()
def allow(
    name: str,
    weight: Annotated[int, typer.Option(help="Its part of a turn beside other tenants.")] = 1,
    rate: Annotated[float | None, typer.Option(help="At most so many calls a second, over all nodes.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="At most so many calls at once, over all nodes.")] = None,
) -> None:
    """Set what a tenant may use."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            limit = Limit(rate, None, concurrency)
            await tenants.allow(store, name, "cli", Allowance(weight, limit if limit.limits else None))
        out.print(f"tenant {name}: weight {weight}, rate {rate or 'any'}, concurrency {concurrency or 'any'}")

    run(work)


@app.command()
def pause(name: str) -> None:
    """Stop all fires and claims of a tenant; what runs may finish."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            out.print(f"tenant {name} {await tenancies.pause(store, name, 'cli')}", highlight=False)

    run(work)


@app.command()
def resume(name: str) -> None:
    """Go on from now; what passed is recorded as skipped."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            out.print(f"tenant {name} {await tenancies.resume(store, name, 'cli')}", highlight=False)

    run(work)


@app.command()
def remove(name: str, confirm: Annotated[str, typer.Option(help="The tenant's name once more.")]) -> None:
    """Close a tenant for ever; all that belongs to it is purged in time."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            out.print(f"tenant {name} {await tenancies.remove(store, name, 'cli', confirm=confirm)}", highlight=False)

    run(work)
