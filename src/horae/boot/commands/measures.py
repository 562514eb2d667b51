"""`horae measure …`: protective measures, as a person sees them and decides about them. It opens PostgreSQL."""

from datetime import timedelta
from typing import Annotated

import typer

from horae.boot.output import answer, name_cells_down, out
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import platform_caller
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.ids import Prefix, public
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureName, MeasureState
from horae.service.measures import overrides
from horae.service.measures.overrides import DecisionCopies

app = Verbs(no_args_is_help=True)
Name = Annotated[MeasureName, typer.Argument(help="The measure, by the name of its signal.")]
OfTenant = Annotated[str | None, typer.Option("--tenant", help="Of this tenant alone; else of the whole platform.")]
COLUMNS = ("measure", "scope", "in force", "value", "judged until (UTC)", "decided by", "until (UTC)")


@app.command("list")
async def list_() -> None:
    """List the measures that are in force, may come into force soon, or that a person has decided about."""
    async with platform_caller() as ctx:
        found, now = await overrides.listing(ctx), ctx.store.clock.now()
        name_cells_down(ctx.cells_down)
    facts = [{"measure": one, "tenant_name": name, "actions": sorted(one.actions_at(now))} for one, name in found]
    rows = [_row(one, name, sorted(one.actions_at(now))) for one, name in found]
    answer_rows(facts, COLUMNS, rows, empty="no measure is in force", least=("value",), wraps=("in force",))


@app.command("override")
async def override(
    name: Name,
    in_force: Annotated[bool, typer.Option("--on/--off", help="In force with all its actions, or not at all.")],
    minutes: Annotated[int, typer.Option(help="For how many minutes.")] = 60,
    tenant: OfTenant = None,
    reason: Reason = None,
) -> None:
    """Decide about a measure for some time, whatever its signal says. Nodes follow within seconds."""
    why, lasts = ask_reason(reason), timedelta(minutes=minutes)
    async with platform_caller() as ctx:
        scope = await overrides.scope_of(ctx, name, tenant)
        copies = await overrides.override(ctx, scope, lasts, why, in_force=in_force)
    _say(copies, f"{name} is {'on' if in_force else 'off'} for {minutes} minutes")


@app.command("lift")
async def lift(name: Name, tenant: OfTenant = None, reason: Reason = None) -> None:
    """End the decision of a person about a measure: its signal decides again."""
    why = ask_reason(reason)
    async with platform_caller() as ctx:
        copies = await overrides.lift(ctx, await overrides.scope_of(ctx, name, tenant), why)
    _say(copies, f"the signal of {name} decides again")


def _say(copies: DecisionCopies, text: str) -> None:
    name_cells_down(copies.cells_down)
    answer(copies._asdict(), lambda: out.print(text, highlight=False))


def _row(one: MeasureState, tenant: str | None, actions: list[str]) -> tuple[object, ...]:
    scope = "platform" if one.tenant_id == PLATFORM_SCOPE else tenant or public(Prefix.TENANT, one.tenant_id)
    decided = one.override
    by, until = ("", None) if decided is None else (decided.actor, decided.until)
    return (one.name, scope, ", ".join(actions) or "no", f"{one.value:g}", moment(one.judged_until), by, moment(until))
