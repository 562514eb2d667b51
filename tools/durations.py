"""Prints a table of the slowest test files: `tools/durations.py [--write PAGE] RESULTS …`.

`RESULTS` are files that pytest wrote with `--junitxml`, or its printed `--durations`. The XML has every test; the
printed list has only the slowest steps. `--write` puts the table between the two marks of a page.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

ROWS: Final = 40
STEP: Final = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S+?)::(.+)$", re.MULTILINE)
BEGIN: Final = "<!-- slowest: begin -->"
END: Final = "<!-- slowest: end -->"


@dataclass(slots=True)
class FileTime:
    """What the tests of one file take together, and the slowest of them."""

    seconds: float = 0.0
    tests: int = 0
    slowest: str = ""
    slowest_s: float = 0.0

    def add(self, test: str, seconds: float) -> None:
        """Count a test of this file."""
        self.seconds += seconds
        self.tests += 1
        if seconds >= self.slowest_s:
            self.slowest, self.slowest_s = test, seconds


def of_junit(text: str) -> Iterator[tuple[str, str, float]]:
    """File, test and seconds of every test in the XML that pytest writes."""
    for case in ElementTree.fromstring(text).iter("testcase"):
        module = case.get("classname", "").replace(".", "/") + ".py"
        yield module, case.get("name", ""), float(case.get("time", "0"))


def of_printed(text: str) -> Iterator[tuple[str, str, float]]:
    """File, test and seconds of every printed test; a test's setup, call and end count as one."""
    tests: dict[tuple[str, str], float] = {}
    for seconds, file, test in STEP.findall(text):
        tests[file, test] = tests.get((file, test), 0.0) + float(seconds)
    yield from ((file, test, seconds) for (file, test), seconds in tests.items())


def by_file(texts: Iterable[str]) -> dict[str, FileTime]:
    """The files of all results, the slowest first."""
    files: dict[str, FileTime] = {}
    for text in texts:
        for file, test, seconds in (of_junit if text.lstrip().startswith("<") else of_printed)(text):
            files.setdefault(file, FileTime()).add(test, seconds)
    return dict(sorted(files.items(), key=lambda item: -item[1].seconds))


def table(files: dict[str, FileTime]) -> str:
    """The slowest files as Markdown, with a line for all others."""
    total = sum(file.seconds for file in files.values()) or 1.0
    lines = ["| test file | tests | seconds | share | slowest test | seconds |", "|---|---:|---:|---:|---|---:|"]
    for name, file in list(files.items())[:ROWS]:
        share = f"{file.seconds / total:.1%}"
        slowest = file.slowest.split("[")[0]
        lines.append(f"| `{name}` | {file.tests} | {file.seconds:.1f} | {share} | `{slowest}` | {file.slowest_s:.1f} |")
    rest = list(files.values())[ROWS:]
    seconds = sum(file.seconds for file in rest)
    lines.append(
        f"| {len(rest)} other files | {sum(file.tests for file in rest)} | {seconds:.1f} | {seconds / total:.1%} | | |"
    )
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Put the table between the marks of a page."""
    head, _, rest = page.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def main(words: list[str]) -> int:
    """Print the table, or write it into a page."""
    page = Path(words[1]) if words[:1] == ["--write"] else None
    results = words[2:] if page else words
    if not results:
        print(__doc__, file=sys.stderr)
        return 2
    text = table(by_file(Path(name).read_text() for name in results))
    if page:
        write(page, text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
