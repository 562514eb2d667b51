"""The report of all runs: `docs/proof/faults.md`, the figures behind it as JSON, and one picture per kind."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.system import records
from tests.system.picture import Bar, draw

PAIRS: Final = [
    "kill+postgres-stop",
    "pause+cut-cell",
    "pause+postgres-stop",
    "cut-node+lose-replies",
    "terminate-storm+lose-replies",
    "slow-database+rolling",
    "kill-all+drop-answers",
    "node-clock+kill",
    "kill+full-disk",
    "block-loop+reset",
]
Run = dict[str, Any]
HEAD: Final = """# Faults: what was struck, and what held

Three node processes, two cells (PostgreSQL servers with `fsync` on), a target with an effect ledger, authors who keep
moving their tasks, and workers who may vanish; all on {cores} cores. Each strike is injected, held and healed under
load. Then the [checker](../../tests/system/checker/__init__.py) recomputes from the definitions which fires had to
exist, and believes only rows, ledger and log. `python -m tests.system.proof` makes these runs, and its `report` this
page; the figures of every strike are in [faults.json](faults.json).

*Lost*, *doubled*, *effects* and *stuck* are violations found by the checker: a fire without a record, a fire with two,
an intended effect that happened twice or not at all although it is recorded, and RUNNING later than its deadline and
30 s. *Other* is any other broken promise. *Takeover* is the time from the moment a node was killed, frozen or cut off
until the last of its shards was in other hands. *Full service* is the time from the end of the fault until nothing
that came due since was more than 2 s late. *Again* counts calls made twice for one attempt, which their receiver knows
by their key. *Refused* counts writes with an old token that found zero rows.
"""
TABLE: Final = """
| fault | TTL | strikes | fires | lost | doubled | effects | stuck | other | takeover p50 · p90 · max | full service p50 · max | p95 · max late | again | refused |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def write(folders: Sequence[Path], docs: Path) -> None:
    """Everything that is in these folders, however far it got."""
    kinds: dict[str, list[Run]] = defaultdict(list)
    for run in records.read(folders):
        if run["strikes"]:
            kinds[run["kind"]].append(run)
    docs.mkdir(parents=True, exist_ok=True)
    rows = {kind: summary(runs) for kind, runs in kinds.items()}
    figures = {
        "kinds": rows,
        "strikes": {kind: [_short(one) for one in _strikes(runs)] for kind, runs in kinds.items()},
    }
    (docs / "faults.json").write_text(json.dumps(figures, indent=1) + "\n")
    for kind, runs in kinds.items():
        (docs / f"{_file(kind)}.svg").write_text(_picture(kind, runs))
    (docs / "faults.md").write_text(_page(kinds, rows))


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """One line of the table."""
    strikes = _strikes(runs)
    verdicts = [verdict for run in runs for verdict in _last_verdicts(run)]
    broken: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for verdict in verdicts:
        broken.update(verdict["violated"])
        counts.update({name: many for name, many in verdict["counts"].items() if isinstance(many, int)})
    other = sum(broken.values()) - sum(broken[name] for name in ("lost", "doubled", "effect", "stuck"))
    return {
        "ttl": sorted({run["ttl"] for run in runs}),
        "rate": sorted({run["rate"] for run in runs}),
        "strikes": len(strikes),
        "judged": sum(max([verdict["after"] for verdict in run["verdicts"]], default=0) for run in runs),
        "expected_fires": counts["expected fires"],
        "deliveries": counts["deliveries"],
        "effects_seen": counts["effects"],
        "lost": broken["lost"],
        "doubled": broken["doubled"],
        "effects": broken["effect"],
        "stuck": broken["stuck"] + sum(one["stuck"] for one in strikes),
        "other": other,
        "broken": dict(broken),
        "errors": sum(len(run["errors"]) for run in runs),
        "takeover": _spread([one["takeover"] for one in strikes]),
        "full_service": _spread([one["full_service"] for one in strikes]),
        "settled": _spread([one["settled"] for one in strikes]),
        "unsettled": sum(one["settled"] is None for one in strikes),
        "late_p95": _spread([one["lateness"].get("p95") for one in strikes]),
        "late_max": _spread([one["lateness"].get("max") for one in strikes]),
        "again": sum(one["duplicates"] for one in strikes),
        "refused": sum(one["refused"] for one in strikes),
        "struck_without_refusal": sum(one["refused"] == 0 for one in strikes),
    }


def _page(kinds: dict[str, list[Run]], rows: dict[str, dict[str, Any]]) -> str:
    cores = max([run["cores"] for runs in kinds.values() for run in runs], default=0)
    alone = [kind for kind in kinds if "+" not in kind and kind != "soak"]
    pairs = [kind for kind in kinds if "+" in kind]
    parts = [HEAD.format(cores=cores)]
    for title, some in (("Each fault alone", alone), ("Two that overlap", pairs), ("Everything at once", ["soak"])):
        found = [kind for kind in some if kind in kinds]
        if found:
            parts.append(f"\n## {title}\n{TABLE}" + "\n".join(_line(kind, rows[kind]) for kind in found) + "\n")
    parts += [_soaked(run) for run in kinds.get("soak", [])]
    parts.append("\n## Timelines\nOf each kind the strike after which full service took longest to return.\n\n")
    parts.append("\n".join(f"![{kind}]({_file(kind)}.svg)\n" for kind in kinds))
    parts += _found(kinds)
    return "".join(parts)


def _found(kinds: dict[str, list[Run]]) -> list[str]:
    """What was violated, word for word, and what the runs themselves stumbled over; nothing where all was well."""
    lines = [
        f"- {kind}: {sentence}"
        for kind, runs in kinds.items()
        for run in runs
        for sentence in [*(text for verdict in _last_verdicts(run) for text in verdict["violations"]), *run["errors"]]
    ]
    return ["\n## Found\n", *(f"{line}\n" for line in lines)] if lines else []


def _line(kind: str, row: dict[str, Any]) -> str:
    takeover, service, late, most = row["takeover"], row["full_service"], row["late_p95"], row["late_max"]
    cells = [
        kind,
        " ".join(f"{ttl:g} s" for ttl in row["ttl"]),
        row["strikes"],
        row["expected_fires"],
        row["lost"],
        row["doubled"],
        row["effects"],
        row["stuck"],
        row["other"],
        f"{takeover['p50']:.1f} · {takeover['p90']:.1f} · {takeover['max']:.1f} s" if takeover else "–",
        f"{service['p50']:.1f} · {service['max']:.1f} s" if service else "–",
        f"{late['p50']:.2f} · {most['max']:.1f} s" if late else "–",
        row["again"],
        row["refused"],
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _soaked(run: Run) -> str:
    facts = run["strikes"][0]["facts"]
    minutes = (run["strikes"][0]["healed"] - run["strikes"][0]["began"]) / 60
    struck = Counter(one["name"] for one in facts["faults"])
    names = ", ".join(f"{name} × {many}" for name, many in struck.most_common())
    return f"\n{minutes:.0f} minutes at {facts['calls_a_second']} calls a second, {struck.total()} faults: {names}.\n"


def _picture(kind: str, runs: Sequence[Run]) -> str:
    if kind != "soak":
        return records.picture(kind, _strikes(runs))
    [one] = runs[-1]["strikes"]
    start = one["began"] - 5.0
    bars = [Bar(fault["name"], fault["began"] - start, fault["healed"] - start) for fault in one["facts"]["faults"]]
    return draw("everything at once", one["timeline"], bars)


def _last_verdicts(run: Run) -> list[Run]:
    return list({verdict["cluster"]: verdict for verdict in run["verdicts"]}.values())


def _strikes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [one for run in runs for one in run["strikes"]]


def _short(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in {"timeline", "lateness"}} | {
        "late_p95": one["lateness"].get("p95"),
        "late_max": one["lateness"].get("max"),
    }


def _spread(values: Sequence[float | None]) -> dict[str, float] | None:
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return None
    at = {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 90)}
    return {**at, "max": ordered[-1], "count": len(ordered)}


def _file(kind: str) -> str:
    return kind.replace("+", "_")
