"""Writes docs/metrics.md from the declared families of metrics: `python tools/metrics.py > docs/metrics.md`."""

from horae.api.metrics import API_FAMILIES
from horae.engine.metrics import NODE_FAMILIES
from horae.runtime.metrics import RUNTIME_FAMILIES, MetricFacts, MetricKind
from horae.runtime.span_export import TRACE_FAMILIES
from horae.store.health.metrics import CELL_FAMILIES
from horae.store.health.named_metrics import NAMED_FAMILIES
from horae.upkeep.gauges import GAUGE_FAMILIES
from horae.upkeep.move_metrics import MOVE_FAMILIES
from horae.upkeep.service_level import LEVEL_FAMILIES

FAMILIES = {
    "node and API": (*RUNTIME_FAMILIES, *TRACE_FAMILIES, *CELL_FAMILIES, *NAMED_FAMILIES, *LEVEL_FAMILIES),
    "node": (*NODE_FAMILIES, *GAUGE_FAMILIES, *MOVE_FAMILIES),
    "API": API_FAMILIES,
}
HEAD = """# Metrics

Every process has a listener of its own for probes and metrics, beside the API's port: a node on port 8701, an API
process on 8702. Prometheus scrapes `/metrics` there without a tenant's key;
[operations](operations.md#probes-and-metrics) says how to open it. This page is written from the code by
`tools/metrics.py`, and a test keeps it so.

Labels have few values: a cell, a priority (`critical`, `normal`, `low`), a lane (`first`, `retry`, `backfill`), a
result, a reason. No label has a URL or a business key. Two kinds of ids are labels, and both are few: the ten tenants
that are busiest in a process, and the first fifty jobs of a process that have the label `metrics=on`
(`horae job label NAME metrics=on`). Counters begin at zero with their process. `process_*` and `python_*` are those of
Prometheus' own client. [Monitoring](monitoring.md) has rules, dashboards and a configuration to begin with.
"""


def page() -> str:
    """Returns the page."""
    parts = [HEAD]
    for who, families in FAMILIES.items():
        parts.append(f"\n## {who}\n| metric | kind | labels | |\n|---|---|---|---|\n")
        parts += [_row(one) for one in families]
    return "".join(parts)


def _row(one: MetricFacts) -> str:
    name = f"{one.name}_total" if one.kind is MetricKind.COUNTER else one.name
    return f"| `{name}` | {one.kind} | {', '.join(f'`{label}`' for label in one.labels)} | {one.text} |\n"


if __name__ == "__main__":
    print(page(), end="")
