"""The report of the simulation, docs/proof/scale.json, and its page. Each part is written when it ends."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import commit, machine
from benchmarks.simulation.scenarios import SCENARIOS
from benchmarks.simulation.service_times import MEASURED, ServiceTimes

ROOT: Final = Path(__file__).parents[2]
REPORT: Final = ROOT / "docs" / "proof" / "scale.json"
PAGE: Final = ROOT / "docs" / "proof" / "scale.md"
MARK: Final = "<!-- written by `python -m benchmarks.simulation page`: change nothing below -->\n"
NOT_QUOTED: Final = """**The validation has not passed. The figures below may not be quoted as what a deployment does;
they show how the decisions behave.**"""


def read(path: Path = REPORT) -> dict[str, Any]:
    """The report; empty where there is none."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def keep(name: str, part: Mapping[str, Any], path: Path = REPORT) -> None:
    """Write one part of the report."""
    path.write_text(json.dumps(read(path) | {name: part}, indent=1) + "\n")


def simulate(names: Sequence[str], scale: float, path: Path = REPORT) -> None:
    """Run scenarios, all of them if none is named; what this commit has run at this scale is not repeated."""
    times, here = ServiceTimes.read(), commit()
    for name, scenario in SCENARIOS.items():
        before = read(path).get(name, {})
        if (names and name not in names) or (before.get("commit"), before.get("scale")) == (here, scale):
            continue
        print(f"simulation: {name}", flush=True)
        figures = scenario(times, scale)
        keep(name, {"commit": here, "machine": machine(), "scale": scale, "figures": figures}, path)


def write_page() -> None:
    """The part of the page that follows from the report."""
    PAGE.write_text(PAGE.read_text().partition(MARK)[0] + MARK + text(read()))


def text(report: Mapping[str, Any]) -> str:
    """The tables of the report."""
    validation = report.get("validation")
    parts = ["", "The validation passed." if validation and validation["passed"] else NOT_QUOTED]
    parts += ["\n## Service times\n", _times()]
    parts += ["\n## Validation\n", _validation(validation) if validation else "No validation has ended yet."]
    for name, scenario in SCENARIOS.items():
        if name in report:
            said = (scenario.__doc__ or "").strip()
            title = name.replace("_", " ").capitalize()
            parts += [
                f"\n## {title}\n",
                f"{said} Commit `{report[name]['commit']}`, scale {report[name]['scale']:g}.\n",
            ]
            parts.append(_table(report[name]["figures"]))
    return "\n".join(parts) + "\n"


def _times() -> str:
    found = json.loads(MEASURED.read_text())
    rows = [
        f"| `{name}` | {value * 100:.2f} % |" if name.endswith("share") else f"| `{name}` | {value * 1e6:,.0f} µs |"
        for name, value in found["times"].items()
    ]
    said = (
        f"Commit `{found['commit']}`, load average {found['load_before']:g} before it began. {found.get('note', '')}\n"
    )
    return "\n".join([said, "| | |", "|---|---:|", *rows])


def _validation(found: Mapping[str, Any]) -> str:
    lines = [
        f"Commit `{found['commit']}`, {found['runs']} runs of each load. "
        f"The node sent at most {found['capacity']:,.0f}/s.\n",
        "| load | | rate | processor s/s | p95 ms | used by others, cores |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, one in found["loads"].items():
        predicted, runs = one["predicted"], one["runs"]
        lines.append(
            f"| {name} | predicted | {predicted['rate']:,.0f} | {predicted['processor_s_per_s']:.2f} "
            f"| {predicted['p95_ms']:,.1f} | |"
        )
        spans = [
            f"{min(run[figure] for run in runs):,.{digits}f} to {max(run[figure] for run in runs):,.{digits}f}"
            for figure, digits in (("rate", 0), ("processor_s_per_s", 2), ("p95_ms", 1), ("others_s_per_s", 2))
        ]
        lines.append(f"| | measured | {' | '.join(spans)} |")
    return "\n".join([*lines, "", *(f"- {said}" for said in found["missed"])])


def _table(figures: Mapping[str, Any]) -> str:
    """A table of figures; where there are several runs, a column for each."""
    if not all(isinstance(one, dict) for one in figures.values()):
        figures = {"": figures}
    names = list(dict.fromkeys(name for one in figures.values() for name in one))
    head = ["| | " + " | ".join(figures) + " |", "|---|" + "---:|" * len(figures)]
    return "\n".join(
        [
            *head,
            *(
                f"| {name.replace('_', ' ')} | " + " | ".join(_shown(one.get(name)) for one in figures.values()) + " |"
                for name in names
            ),
        ]
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}" if value < 1e6 else f"{value:,.0f}"
