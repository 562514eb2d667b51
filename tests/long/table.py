"""Reads the table of `docs/proof/hardening.md`: every row with the tests and the faults that it names."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TABLE: Final = ROOT / "docs" / "proof" / "hardening.md"
LONG_TEST_OF_FAULTS: Final = "tests/system/test_faults.py::test_thirty_of_a_kind_at_the_shipped_ttl"
FAULTS_IN_A_LINE: Final = r"; faults? ((?:`[\w-]+`(?:, )?)+)"


@dataclass(frozen=True)
class Row:
    """One line of the table. `tests` holds `path::name` without parameters."""

    name: str
    line: str
    tests: tuple[str, ...]
    faults: tuple[str, ...]

    def names(self, test: str) -> bool:
        """Whether the row names a collected test, by its function or by its fault."""
        function, _, parameters = test.partition("[")
        return function in self.tests or (
            function == LONG_TEST_OF_FAULTS and parameters.removesuffix("]") in self.faults
        )


def read_rows(text: str) -> list[Row]:
    """Returns the rows of the table in their order."""
    return [
        Row(
            name,
            line,
            tuple(f"{path}::{test}" for path, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line)),
            tuple(fault for words in re.findall(FAULTS_IN_A_LINE, line) for fault in re.findall(r"`([\w-]+)`", words)),
        )
        for name, line in re.findall(r"^(?=\| ([IORSW]-\d+) )(\|.*)$", text, re.MULTILINE)
    ]
