"""The alert rules, channels and silences of all tenants, as one cell knows them."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule, NamedRule, rules_of
from horae.domain.alerts.silences import Silence
from horae.domain.events.channels import Channel
from horae.runtime.telemetry import log
from horae.store.alerts import faults
from horae.store.events import channels
from horae.store.reading import UNREADABLE
from horae.store.tx import Tx

ALERT_CHANNEL: Final = "alert_channel"
ALERT_RULE: Final = "alert_rule"
SILENCE: Final = "silence"
Body = TypeVar("Body")


class TenantRules(NamedTuple):
    """The rules that apply in a tenant, and its silences."""

    tenant_id: UUID
    name: str
    rules: list[NamedRule]
    silences: list[Silence]

    def of_kind(self, kind: AlertKind) -> list[NamedRule]:
        """The rules of a kind."""
        return [one for one in self.rules if one.rule.kind is kind]


async def read_rules(tx: Tx) -> dict[UUID, TenantRules]:
    """Read the rules of every tenant that has an alert channel."""
    ways = await channels.active(tx, ALERT_CHANNEL)
    if not ways:
        return {}
    rules = _bodies(await channels.active(tx, ALERT_RULE), AlertRule)
    silences = _bodies(await channels.active(tx, SILENCE), Silence)
    names: dict[UUID, list[str]] = defaultdict(list)
    for way in ways:
        names[way.tenant_id].append(way.name)
    found = {}
    for tenant_id, tenant in (await faults.tenant_names(tx, list(names))).items():
        own = [NamedRule(name, rule) for name, rule in rules[tenant_id]]
        quiet = [silence for _, silence in silences[tenant_id]]
        found[tenant_id] = TenantRules(tenant_id, tenant, rules_of(tenant, own, names[tenant_id]), quiet)
    return found


def _bodies(rows: Iterable[Channel], shape: type[Body]) -> defaultdict[UUID, list[tuple[str, Body]]]:
    """Returns names and bodies of rows by tenant. A row that only a newer release understands is left out."""
    found: defaultdict[UUID, list[tuple[str, Body]]] = defaultdict(list)
    for row in rows:
        try:
            found[row.tenant_id].append((row.name, msgspec.convert(row.body, shape)))
        except UNREADABLE as error:
            log.warning("alert.rule_unknown", rule=row.name, tenant=row.tenant_id, reason=str(error)[:500])
    return found
