"""`make long`: every row of `docs/proof/hardening.md` in full size, or those of `ROW="R-08 R-11"`, once or `TIMES=5`.

Exit status 1: a test did not pass; 2: nothing was run; 130: it was stopped, and goes on there when it is called again.
"""

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.long.runner import Runner, say
from tests.long.table import ROOT, TABLE, read_rows

RESULTS: Final = ROOT / "docs" / "proof" / "long.jsonl"
TESTED: Final = ("src", "sdk", "tests", "requirements")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=1, help="how often each test has to pass")
    parser.add_argument("rows", nargs="*")
    asked = parser.parse_args(words)
    names: list[str] = asked.rows
    rows, here = read_rows(TABLE.read_text()), commit_of(ROOT)
    if unknown := set(names) - {row.name for row in rows}:
        say(f"docs/proof/hardening.md has no line for {', '.join(sorted(unknown))}")
        return 2
    if here.endswith("+"):
        say("the tree has changes; commit them first, a result names one commit")
        return 2
    for stop in (signal.SIGTERM, signal.SIGINT):  # a shell starts what runs in the background with SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    try:
        return 0 if Runner(ROOT, RESULTS, here, rows, asked.times).run(names) else 1
    except KeyboardInterrupt:
        say("stopped; the next call goes on with the test that was running")
        return 130


def commit_of(root: Path) -> str:
    """Returns the last commit that changed what is tested or its tests; `+` where the tree has changes to that."""

    def git(*words: str) -> str:
        command = ["git", *words, "--", *TESTED]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
