"""The alert rules, channels and silences of all tenants, as one cell knows them."""

from collections import defaultdict
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule, NamedRule, rules_of
from horae.domain.alerts.silences import Silence
from horae.domain.events.channels import Channel
from horae.runtime.telemetry import log
from horae.store.alerts import faults
from horae.store.events import channels
from horae.store.tx import Tx

ALERT_CHANNEL: Final = "alert_channel"
ALERT_RULE: Final = "alert_rule"
SILENCE: Final = "silence"


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
    rules, silences = await channels.active(tx, ALERT_RULE), await channels.active(tx, SILENCE)
    names: dict[UUID, list[str]] = defaultdict(list)
    for way in ways:
        names[way.tenant_id].append(way.name)
    found = {}
    for tenant_id, tenant in (await faults.tenant_names(tx, list(names))).items():
        own = [NamedRule(one.name, rule) for one in rules if one.tenant_id == tenant_id and (rule := _rule(one))]
        quiet = [msgspec.convert(one.body, Silence) for one in silences if one.tenant_id == tenant_id]
        found[tenant_id] = TenantRules(tenant_id, tenant, rules_of(tenant, own, names[tenant_id]), quiet)
    return found


def _rule(row: Channel) -> AlertRule | None:
    """Returns the rule of a row; None where only a newer release understands it."""
    try:
        return msgspec.convert(row.body, AlertRule)
    except msgspec.ValidationError:
        log.warning("alert.rule_unknown", rule=row.name)
        return None
