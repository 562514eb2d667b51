"""`horae tenant …`: all of it needs a key of the tenant `system`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer

from horae.boot.output import say, to_json
from horae.boot.remote import Remote, Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.verbs import Verbs
from horae.domain.placement import DEFAULT_WIDTH
from horae_client import errors
from horae_client.asked import tenants as asked
from horae_client.models import Tenant, TenantStatus

app = Verbs(no_args_is_help=True)
TRIES: Final = 5
"""How often an allowance is changed again because somebody else changed it at the same time."""


@app.command()
async def create(
    name: str,
    width: Annotated[
        int, typer.Option(help="Over how many shards its rows are spread: at least as many as there are nodes.")
    ] = DEFAULT_WIDTH,
    zone: Annotated[str, typer.Option(help="The zone of jobs that name none.")] = "UTC",
) -> None:
    """Create a tenant."""
    async with remote() as api:
        made = await api.ask(asked.create(name, width, zone))
    say(made.facts, f"tenant {name} created: {made.value.id}")


@app.command("list")
async def list_(limit: int = 100) -> None:
    """List all tenants by name."""
    async with remote() as api:
        found = await api.items(asked.tenants(), limit)
    rows = [(one.name, one.width, one.layout, one.zone, one.allowance["weight"], one.id) for one in found.value]
    columns = ("name", "width", "layout", "zone", "weight", "id")
    answer_rows(found.facts, columns, rows, empty="there are no tenants", least=("layout", "weight", "zone"))


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

    async with remote() as api:
        reply = await api.ask(asked.tenant(name))
        if is_change:
            reply = await _change_allowance(api, reply.value, lambda before: _changed(before, weight, limits, counts))
    say(reply.facts, f"tenant {name} may use: {to_json(reply.value.allowance)}")


async def _change_allowance(
    api: Remote, tenant: Tenant, change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> Reply[Tenant]:
    """Write a changed allowance. Where somebody else was faster, change what they wrote, at most `TRIES` times."""
    for _ in range(TRIES - 1):
        try:
            return await api.ask(asked.set_allowance(tenant.name, change(tenant.allowance), tenant.allowance))
        except errors.Conflict:
            tenant = (await api.ask(asked.tenant(tenant.name))).value
    return await api.ask(asked.set_allowance(tenant.name, change(tenant.allowance), tenant.allowance))


def _changed(
    before: Mapping[str, Any], weight: int | None, limits: dict[str, Any], counts: dict[str, Any]
) -> dict[str, Any]:
    """The allowance with the given options; a limit of 0 is no limit."""
    limit = (before["limit"] or {}) | {key: value or None for key, value in _given(limits).items()}
    is_limit = limit.get("rate") is not None or limit.get("concurrency") is not None
    changed = {
        **before,
        "weight": before["weight"] if weight is None else weight,
        "limit": limit if is_limit else None,
        "counts": before["counts"] | _given(counts),
    }
    return {key: value for key, value in changed.items() if value is not None}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {key: value for key, value in options.items() if value is not None}


@app.command()
async def widen(
    name: str,
    width: Annotated[int, typer.Option(help="Over how many shards its new jobs and keys are spread.")] = DEFAULT_WIDTH,
) -> None:
    """Spread the new jobs and keys of a tenant over more shards; existing rows stay where they are."""
    async with remote() as api:
        reply = await api.ask(asked.widen(name, width))
    say(reply.facts, f"tenant {name} is {reply.value.width} wide, {reply.value.layout}")


@app.command()
async def pause(name: str) -> None:
    """Stop all fires and claims of a tenant; running instances may finish."""
    async with remote() as api:
        _say_status(await api.ask(asked.verb(name, "pause")))


@app.command()
async def resume(name: str) -> None:
    """Continue from now; fires that were missed meanwhile are recorded as skipped."""
    async with remote() as api:
        _say_status(await api.ask(asked.verb(name, "resume")))


@app.command()
async def remove(name: str, confirm: Annotated[str, typer.Option(help="The tenant's name once more.")]) -> None:
    """Remove a tenant for good; everything that belongs to it is purged in the background."""
    async with remote() as api:
        _say_status(await api.ask(asked.remove(name, confirm)))


def _say_status(reply: Reply[TenantStatus]) -> None:
    say(reply.facts, f"tenant {reply.value.name} {reply.value.status}")
