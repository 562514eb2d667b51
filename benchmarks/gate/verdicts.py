"""What a measured figure is held against. The references are data: `benchmarks/gate/references.json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

REFERENCES: Final = Path(__file__).with_name("references.json")
RATIO_FLOOR: Final = 0.7
TRIES: Final = 3


@dataclass(frozen=True)
class Reference:
    """A figure as it was when it was last agreed on, and what it may not fall below or exceed.

    A count without slack, such as fires that were lost, is judged by one measurement. Every other figure fails when
    `TRIES` measurements in a row miss its bound. The bound is the reference times `slack`: 0.7 for a ratio; for a count
    what batches and clocks change in it.
    """

    figure: str
    kind: Literal["counted", "ratio"]
    reference: float
    slack: float
    means: str
    floor: float | None = None
    ceiling: float | None = None

    @property
    def stage(self) -> str:
        """The stage that measures it."""
        return self.figure.partition(".")[0]

    @property
    def tries(self) -> int:
        """How many measurements may decide."""
        return 1 if self.slack == 1 else TRIES

    @property
    def bound(self) -> str:
        """The bound in a word."""
        return f"≥ {self.floor:g}" if self.floor is not None else f"≤ {self.ceiling:g}"

    def allows(self, value: float) -> bool:
        """Whether a value keeps to the bound."""
        return (self.floor is None or value >= self.floor) and (self.ceiling is None or value <= self.ceiling)


@dataclass(frozen=True)
class Verdict:
    """A figure with everything that was measured of it, in order."""

    reference: Reference
    values: Sequence[float]

    @property
    def kept(self) -> bool:
        """Whether it keeps to its bound in a measurement that may decide."""
        return any(map(self.reference.allows, self.values[: self.reference.tries]))

    @property
    def final(self) -> bool:
        """Whether nothing more is to be measured."""
        return self.kept or len(self.values) >= self.reference.tries

    @property
    def lost(self) -> bool:
        """Whether no further measurement could save it."""
        return self.final and not self.kept and bool(self.values)


def load(path: Path = REFERENCES) -> list[Reference]:
    """All references, in the order of the file."""
    return [Reference(figure, **facts) for figure, facts in json.loads(path.read_text()).items()]


def accept(found: Mapping[str, float], path: Path = REFERENCES) -> None:
    """Make measured figures the references, with their bounds anew; what was not measured stays."""
    kept = json.loads(path.read_text())
    for figure, facts in kept.items():
        if figure in found:
            name = "floor" if facts["kind"] == "ratio" else "ceiling"
            facts |= {"reference": found[figure], name: float(f"{found[figure] * facts['slack']:.3g}")}
    lines = [f"  {json.dumps(figure)}: {json.dumps(facts, ensure_ascii=False)}" for figure, facts in kept.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def judge(references: Sequence[Reference], measured: Sequence[Mapping[str, float]]) -> list[Verdict]:
    """The verdicts on the figures of one stage, which was measured so many times; a failed measurement is empty."""
    return [
        Verdict(reference, [found[reference.figure] for found in measured if reference.figure in found])
        for reference in references
    ]
