"""Our own rules (`tools/semgrep`) over all that ships, as part of `make check`.

Nothing may be found in `src`; and in `tools/semgrep/planted.py`, which breaks every rule, everything that is marked
there must be found, and nothing else. No network, no telemetry.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RULES = Path("tools/semgrep")
PLANTED = RULES / "planted.py"
SEMGREP = ROOT / ".venv" / "rules" / "bin" / "semgrep"
QUIET = ["--metrics=off", "--disable-version-check", "--no-git-ignore", "--quiet", "--json"]
Found = set[tuple[str, int, str]]


def found() -> Found:
    """Path, line and rule of every place."""
    command = [SEMGREP, "scan", *QUIET, "--config", RULES, PLANTED, "src"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    said = json.loads(done.stdout)
    if said["errors"]:
        sys.exit("\n".join(str(error) for error in said["errors"]))
    return {(one["path"], one["start"]["line"], one["check_id"].rpartition(".")[2]) for one in said["results"]}


def marked() -> Found:
    """What the planted file says of itself: the line after a mark breaks the rules it names."""
    lines = enumerate((ROOT / PLANTED).read_text().splitlines(), 1)
    marks = [(number + 1, mark[1]) for number, line in lines if (mark := re.match(r"\s*# ruleid: (.*)", line))]
    return {(str(PLANTED), number, rule) for number, rules in marks for rule in rules.split(", ")}


def unmarked() -> set[str]:
    """Rules that nothing planted breaks."""
    known = {rule for file in (ROOT / RULES).glob("*.yaml") for rule in re.findall(r"- id: (\S+)", file.read_text())}
    return known - {rule for _, _, rule in marked()}


def main() -> None:
    """Say each place that should not be there, and each that was missed."""
    here, there = found(), marked()
    lines = [f"{path}:{line}: {rule}" for path, line, rule in sorted(here - there)]
    lines += [f"{path}:{line}: {rule} finds nothing here, though this breaks it" for path, line, rule in there - here]
    lines += [f"{PLANTED}: nothing breaks {rule}" for rule in sorted(unmarked())]
    if lines:
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
