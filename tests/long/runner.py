"""Runs long tests one at a time, each in a process of its own, and writes the result of each at once.

A run that was stopped goes on where it was: a test with as many passing lines of the same commit as are asked for is
passed over.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from benchmarks.measure import machine

from tests.long.table import Row

PASSED, FAILED, SKIPPED, CRASHED = "passed", "failed", "skipped", "crashed"
NO_ROW: Final = "no row"
PYTEST: Final = (sys.executable, "-m", "pytest", "-m", "long", "-n", "0")


@dataclass(frozen=True)
class Runner:
    """The long tests of the tree under `root` at one commit; `results` gets a JSON line per finished test.

    Each test is run until it has passed `times` times, or has not passed.
    """

    root: Path
    results: Path
    commit: str
    rows: Sequence[Row]
    times: int = 1

    def run(self, names: Sequence[str] = ()) -> bool:
        """Run the tests of the named rows, or of every row and then those of no row; says whether all have passed."""
        passes, failed = self._passes_before(), set[str]()
        for name, tests in self._plan(names).items():
            if not tests:
                say(f"{name}: no long test, `make suite` runs its full size")
            for test in tests:
                while test not in failed and passes[test] < self.times:
                    say(f"{name}: {test}")
                    outcome = self._run(test)
                    if outcome == PASSED:
                        passes[test] += 1
                    else:
                        failed.add(test)
                        say(f"{name}: {test} {outcome} at {self.commit}")
                say(f"{name}: {test} has passed {passes[test]} of {self.times} times at {self.commit}")
        return not failed

    def _plan(self, names: Sequence[str]) -> dict[str, list[str]]:
        tests = self._collect()
        plan = {row.name: list(filter(row.names, tests)) for row in self.rows if not names or row.name in names}
        if not names:
            plan[NO_ROW] = [test for test in tests if not self._rows_of(test)]
        return plan

    def _collect(self) -> list[str]:
        command = [*PYTEST, "--collect-only", "-q"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 5}:  # 5: there is no long test
            raise RuntimeError(f"the long tests could not be collected:\n{done.stdout}{done.stderr}")
        return [line for line in done.stdout.splitlines() if re.match(r"[\w/]+\.py::", line)]

    def _rows_of(self, test: str) -> list[str]:
        return [row.name for row in self.rows if row.names(test)]

    def _passes_before(self) -> Counter[str]:
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        found = [json.loads(line) for line in lines]
        return Counter(one["test"] for one in found if (one["commit"], one["outcome"]) == (self.commit, PASSED))

    def _run(self, test: str) -> str:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            wait_for([*PYTEST, "--tb=native", "-o", "junit_family=xunit1", f"--junitxml={report}", test], self.root)
            outcome, figures = read_report(report)
        here = machine()
        line = {
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "commit": self.commit,
            "rows": self._rows_of(test),
            "test": test,
            "outcome": outcome,
            "minutes": round((time.monotonic() - began) / 60, 2),
            "figures": figures,
            "cores": here["cores"],
            "memory_gib": here["memory_gib"],
        }
        with self.results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return outcome


def wait_for(command: Sequence[str], folder: Path) -> None:
    """Run a command to its end. An interruption of ours reaches the command, which ends its servers before we go on."""
    child = subprocess.Popen(command, cwd=folder, start_new_session=True)
    try:
        child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise


def read_report(report: Path) -> tuple[str, dict[str, Any]]:
    """Returns the outcome and the figures of a test, from pytest's JUnit report; a test that ended pytest left none."""
    if not report.exists():
        return CRASHED, {}
    cases = list(ElementTree.parse(report).iter("testcase"))
    kinds = {child.tag for case in cases for child in case}
    figures = {one.attrib["name"]: read_figure(one.attrib["value"]) for case in cases for one in case.iter("property")}
    if not cases or kinds & {"failure", "error"}:
        return FAILED, figures
    return SKIPPED if "skipped" in kinds else PASSED, figures


def read_figure(text: str) -> Any:
    """Returns a figure as `record_property` was given it; the report has only its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def say(text: str) -> None:
    sys.stderr.write(f"long: {text}\n")
    sys.stderr.flush()
