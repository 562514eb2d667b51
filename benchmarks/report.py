"""`make reports`: every benchmark in full size on one commit. `make reports-page`: only the page and its picture.

Each report is written at once, so that a run goes on where it was stopped: what has a report of this commit is skipped.
Each adds a line to the history. The page marks what is stale: measured before the last change of what it measures.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.contents import CONTENTS, Entry
from benchmarks.measure import commit, figure_of
from horae.runtime.picture import COLOURS, Panel, draw

ROOT: Final = Path(__file__).parents[1]
REPORTS: Final = ROOT / "benchmarks" / "reports"
PAGE, HISTORY, PICTURE = REPORTS / "README.md", REPORTS / "history.jsonl", REPORTS / "history.svg"
WATCHED: Final = ("src/horae/engine", "src/horae/delivery", "src/horae/repositories", "src/horae/store")
STALE: Final = "🔴 **stale**"
HEAD: Final = f"""# Reports

`make reports` writes this page. Each report is the last line of one `make bench NAME=…` run, with its commit, settings
and machine. Ours and the bare side alternate in slices; a figure is a median. Compare ratios, not rates: machines
differ and are shared. {STALE} stands where the engine, delivery or the store has changed since the report was made.

![Ratios over commits](history.svg)

| report | what it measures | figures | commit | verdict |
|---|---|---|---|---|
"""
FOOT: Final = """
[Decision 7](../../docs/decisions/0007-hot-path.md) tells what was tried on the way to the first of them,
[Measuring](../../docs/measuring.md) how to read and remake them. `history.jsonl` holds the ratios
of every report so far.
"""


def main(words: Sequence[str]) -> int:
    """Measure what is named or everything, then write the page; with `--page` the page alone."""
    names = [word for word in words if word != "--page"]
    if "--page" not in words:
        here = commit()
        if here.endswith("+"):
            print("reports: the tree has changes; commit them first, a report names one commit", file=sys.stderr)
            return 2
        for entry in CONTENTS:
            if (not names or entry.name in names) and read(entry.name).get("commit") != here:
                _measure(entry)
                write_page()
    write_page()
    if "--page" in words:
        return 0
    return 0 if all(read(entry.name).get("ok", False) for entry in CONTENTS) else 1


def read(name: str, folder: Path = REPORTS) -> dict[str, Any]:
    """A report; empty where there is none."""
    path = folder / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def write_page() -> None:
    """The page and the picture, from what is there."""
    lines = [_line(entry, report) for entry in CONTENTS if (report := read(entry.name))]
    drawn = [f"\n![{path.stem}]({path.name})\n" for path in sorted(REPORTS.glob("overload_*.svg"))]
    PAGE.write_text(HEAD + "\n".join(lines) + "\n" + "".join(drawn) + FOOT)
    PICTURE.write_text(picture([json.loads(line) for line in HISTORY.read_text().splitlines()]))


def history_line(entry: Entry, report: Mapping[str, Any], date: str) -> str:
    """What is kept of a report for ever."""
    figures = {name: figure_of(report, name) for name in entry.ratios}
    return json.dumps({"date": date, "commit": report["commit"], "name": entry.name, "figures": figures})


def picture(history: Sequence[Mapping[str, Any]]) -> str:
    """A panel for each ratio, over the commits in the order in which they were measured."""
    commits = list(dict.fromkeys(line["commit"] for line in history))
    panels = []
    for entry in CONTENTS:
        for ratio in entry.ratios:
            seen = {line["commit"]: line["figures"].get(ratio) for line in history if line["name"] == entry.name}
            values = [seen.get(one) for one in commits]
            last = next((value for value in reversed(values) if value is not None), None)
            if last is not None:
                panels.append(Panel(f"{entry.name}: {ratio}, last {last:g}", values, COLOURS[len(panels) % 5]))
    return draw("Ratios over commits", panels, ticks=commits)


def is_stale(measured: str) -> bool:
    """Whether what is watched has changed since a commit was measured; changes not committed count."""
    if _git("status", "--porcelain", "--", *WATCHED):
        return True
    last = _git("log", "-1", "--format=%H", "--", *WATCHED)
    asked = ["git", "merge-base", "--is-ancestor", last, measured.rstrip("+")]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, check=False).returncode != 0


def knows_history() -> bool:
    """Whether git is here with every commit; a shallow clone cannot tell what is stale."""
    return (ROOT / ".git").exists() and _git("rev-parse", "--is-shallow-repository") == "false"


def _measure(entry: Entry) -> None:
    print(f"reports: {entry.name}", file=sys.stderr, flush=True)
    path = REPORTS / f"{entry.name}.json"
    command = [sys.executable, "-m", "benchmarks.run", entry.name, str(entry.seconds)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"HORAE_BENCH_REPORT": str(path)}, stdout=subprocess.DEVNULL, check=False
    )
    report = read(entry.name)
    if report.get("commit") != commit():
        raise RuntimeError(f"{entry.name} ended with status {done.returncode} and no report")
    with HISTORY.open("a") as file:
        file.write(history_line(entry, report, datetime.now(UTC).strftime("%Y-%m-%d")) + "\n")


def _line(entry: Entry, report: Mapping[str, Any]) -> str:
    figures = "; ".join(f"`{name}` {_told(report, name)}" for name in entry.figures)
    verdict = "ok" if report["ok"] else "**missed**: " + "; ".join(report["missed"])
    stale = f"{STALE}; " if is_stale(report["commit"]) else ""
    name = f"[{entry.name}.json]({entry.name}.json)"
    return f"| {name} | {entry.means} | {figures} | {report['commit']} | {stale}{verdict} |"


def _told(report: Mapping[str, Any], name: str) -> object:
    """A figure; a report may be older than what is measured today."""
    try:
        return figure_of(report, name)
    except KeyError:
        return "not measured"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
