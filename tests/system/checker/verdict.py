"""What a check says: sentences with the rows they speak of, and counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 12


@dataclass(frozen=True)
class Violation:
    """One promise that was broken, by the name of the check that saw it."""

    check: str
    sentence: str
    rows: Sequence[Any] = ()

    def __str__(self) -> str:
        return f"[{self.check}] {self.sentence}"


@dataclass(frozen=True)
class Verdict:
    """Everything that was found. `counts` says how much was looked at: a check that saw nothing proves nothing."""

    violations: Sequence[Violation]
    counts: Counter[str]
    lateness: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.violations

    @property
    def broken(self) -> set[str]:
        """The names of the checks that found something."""
        return {violation.check for violation in self.violations}

    def __str__(self) -> str:
        if self.ok:
            return f"all kept; {dict(sorted(self.counts.items()))}, lateness {dict(self.lateness)}"
        more = len(self.violations) - SHOWN
        lines = [f"{violation}  {list(violation.rows)[:3]}" for violation in self.violations[:SHOWN]]
        return "\n".join([*lines, f"and {more} more" if more > 0 else ""]).strip()
