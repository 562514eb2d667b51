"""Writes docs/capacity.md from the measured bytes of a row: `python tools/capacity.py > docs/capacity.md`."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from horae.domain.capacity.figures import CALLS
from horae.domain.capacity.plan import MAX_LOAD_SHARE, Demand, amount_text, plan, volume

REPORT: Final = Path(__file__).parents[1] / "benchmarks" / "reports" / "rows.json"
FIRES_A_DAY: Final = 800_000_000
SEED_BYTES: Final = 700
HOT_DAYS, COLD_DAYS, CELLS = 14, 90, 12
TABLES: Final = ("instance_history", "outbox", "dead_letter", "task_key", "instance_live")
HEAD: Final = """# Capacity

How many bytes a fire needs, and what follows for a disk. `make bench NAME=rows` writes rows by the product's own
statements and measures them ([report](../benchmarks/reports/rows.json), commit `{commit}`). `tools/capacity.py` writes
this page from it, and a test fails where it is older than the report. Sizes include indexes, and are decimal: 1 GB is
1,000,000,000 bytes.

## Bytes of a row
"""
LEGEND: Final = """
`instance_history` and `outbox` are kept by the day and dropped whole; `each day` is their sum. `instance_live` is the
row while it runs.
"""
SIZING: Final = """
## The sizing that was asked for
800 million fires a day, 14 days hot, 90 days cold, by a record of 700 bytes; beside it what a plain cron fire needs
here.

| | asked for | here, all cells | here, one of {cells} cells |
|---|---:|---:|---:|
"""
DEPLOYMENTS: Final = {
    "one machine": Demand(jobs=10_000, fires_per_s=100, peak_per_s=500),
    "a company": Demand(jobs=300_000, fires_per_s=1_000, peak_per_s=5_000),
    "800 million fires a day": Demand(jobs=3_000_000, fires_per_s=9_260, peak_per_s=55_556),
}
NEEDS: Final = """
## What a deployment needs
`horae capacity` computes it for your own figures, and says for each line which report and commit it comes from:

    horae capacity --jobs 300000 --fires 1000 --peak 5000 --payload 0 --hot 14 --cold 90 --p95 2000

Cron jobs without a payload, 14 days hot, 90 days cold, p95 below 2 s:

"""
NEEDS_NOTES: Final = """
- No part is loaded with more than 70 % of what was measured; with a p95 below {p95} ms less, because a loaded part
  answers later. The rates were measured on two cores; a cell on a larger machine takes more, which was not measured.
- More cells than the rate needs keep a failure small and a restore short: with 12 cells a lost one takes a twelfth.
- Connections grow with nodes: each node serves every cell.

"""
NOTES: Final = """
- A task, a retry and a dead letter need more, as the first table says. For a mixture, multiply each by its fires a day:
  ten million tasks a day need {tasks} a day.
- Plain means that the target answers 200 without a body. Anything else of the answer is kept with the row: 85 bytes and
  up to 2 KB of the body.
- PostgreSQL also writes WAL, {wal} bytes for a plain cron fire: {wal_day} a day for 800 million, which `max_wal_size`,
  slots and archiving hold for as long as you let them.
- Live rows are there from creation to end. A million live tasks need {waiting}; the ledger keeps {ledger} for a million
  keys, for ever unless their type has `key_retention_days`.
- Leave a third of the disk free: vacuum, new indexes and a day that is held back need room
  ([Growth](retention.md#growth)).

## What a plain cron fire costs in history
| | bytes |
|---|---:|
"""


def page(report: Mapping[str, Any]) -> str:
    """Returns the page."""
    kinds = report["kinds"]
    head = HEAD.format(commit=report["commit"])
    bytes_of_rows = _kinds(kinds) + _sizing(report) + _notes(kinds)
    return head + bytes_of_rows + _columns(kinds["cron"]["instance_history"]) + _needs()


def _needs() -> str:
    plans = [plan(demand) for demand in DEPLOYMENTS.values()]
    rates = [f"{demand.peak_per_s:,.0f}/s" for demand in DEPLOYMENTS.values()]
    rows = [
        f"| | {' | '.join(DEPLOYMENTS)} |",
        "|---|" + "---:|" * len(plans),
        f"| at the peak | {' | '.join(rates)} |",
    ]
    rows += [
        f"| {needs[0].name} | {' | '.join(amount_text(need) for need in needs)} |" for needs in zip(*plans, strict=True)
    ]
    notes = NEEDS_NOTES.format(p95=math.ceil(CALLS.quiet_p95_ms / (1 - MAX_LOAD_SHARE)))
    return NEEDS + "\n".join(rows) + "\n" + notes.rstrip("\n") + "\n"


def _kinds(kinds: Mapping[str, Any]) -> str:
    names = " | ".join(f"`{table}`" for table in TABLES)
    rows = [f"| a fire | {names} | each day | WAL |", f"|---|{'---:|' * (len(TABLES) + 2)}"]
    for kind in kinds.values():
        cells = " | ".join(_bytes_of(kind[table], kind["instance_history"]["rows"]) for table in TABLES)
        each_day, wal = kind["each_day_bytes_per_fire"], kind["wal_bytes_per_fire"]
        rows.append(f"| {kind['means']} | {cells} | {each_day:,.0f} | {wal:,} |")
    return "\n".join(rows) + "\n" + LEGEND


def _bytes_of(table: Mapping[str, Any], fires: int) -> str:
    """Bytes that a fire has in a table: those of its rows there."""
    if not table["rows"]:
        return ""
    each = table["rows"] / fires
    many = f"{each:.0f} × " if round(each) > 1 else ""
    return f"{many}{table['bytes']:,.0f}"


def _sizing(report: Mapping[str, Any]) -> str:
    ours, cold = report["history_bytes"], report["archived_bytes"]
    rows = [
        ("a record", f"{SEED_BYTES} B", f"{ours:,.0f} B", f"{ours:,.0f} B"),
        _line("a day", SEED_BYTES, ours, 1),
        _line(f"{HOT_DAYS} days hot", SEED_BYTES, ours, HOT_DAYS),
    ]
    if cold is None:
        rows.append((f"{COLD_DAYS} days cold", volume(SEED_BYTES * FIRES_A_DAY * COLD_DAYS), "not measured", ""))
    else:
        rows.append(("an archived record", f"{SEED_BYTES} B", f"{cold:,.0f} B", f"{cold:,.0f} B"))
        rows.append(_line(f"{COLD_DAYS} days cold", SEED_BYTES, cold, COLD_DAYS))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return SIZING.format(cells=CELLS) + table + "\n"


def _line(name: str, asked: float, ours: float, days: int) -> tuple[str, str, str, str]:
    here = ours * FIRES_A_DAY * days
    return name, volume(asked * FIRES_A_DAY * days), volume(here), volume(here / CELLS)


def _notes(kinds: Mapping[str, Any]) -> str:
    cron, task, million = kinds["cron"], kinds["task"], 1_000_000
    return NOTES.format(
        tasks=volume(task["each_day_bytes_per_fire"] * 10 * million),
        wal=f"{cron['wal_bytes_per_fire']:,}",
        wal_day=volume(cron["wal_bytes_per_fire"] * FIRES_A_DAY),
        waiting=volume(task["instance_live"]["bytes"] * million),
        ledger=volume(task["task_key"]["bytes"] * million),
    )


def _columns(history: Mapping[str, Any]) -> str:
    parts = {f"`{name}`": size for name, size in history["columns"].items()}
    parts |= {f"index `{name}`": size for name, size in history["indexes"].items()}
    parts |= {"header of the row": history["header"], "padding": history["padding"], "page": history["page"]}
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return "".join(f"| {name} | {size:g} |\n" for name, size in ordered) + f"| all | {history['bytes']:g} |\n"


if __name__ == "__main__":
    print(page(json.loads(REPORT.read_text())), end="")
