"""`make long` on a small tree of its own, in which a test fails, one ends its process, and one stops the runner."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.long import __main__ as program
from tests.long.runner import Runner
from tests.long.table import ROOT, read_rows

TABLE = """
| R-01 first | holds | `tests/test_rows.py::test_first` | small | large |
| R-02 second | holds | `tests/test_rows.py::test_second` `tests/test_rows.py::test_first` | small | large |
| S-03 small | holds | `tests/test_rows.py::test_small` | small | the same |
"""
HEAD = """
import os, signal
from pathlib import Path
import pytest

RESULTS = Path(__file__).parents[1] / "long.jsonl"

def test_small():
    pass

@pytest.mark.long
@pytest.mark.parametrize("size", [7])
def test_first(size, record_property):
    record_property("fires", size)
    record_property("seen", "nothing odd")
"""
OTHERS = """
@pytest.mark.long
def test_second():
    {}

@pytest.mark.long
def test_of_no_row():
    pass
"""
FIRST, SECOND, OF_NO_ROW = (
    f"tests/test_rows.py::{name}" for name in ("test_first[7]", "test_second", "test_of_no_row")
)


class Tree:
    """A tree with three long tests, of which the second does what it is told, and the lines of their results."""

    def __init__(self, root: Path) -> None:
        self.root, self.results = root, root / "long.jsonl"
        (root / "tests").mkdir()
        (root / "pytest.ini").write_text("[pytest]\nmarkers = long\naddopts = --strict-markers -m 'not long'\n")
        self.second("pass")

    def second(self, body: str) -> None:
        (self.root / "tests" / "test_rows.py").write_text(HEAD + OTHERS.format(body))

    def run(self, *names: str, commit: str = "abc", times: int = 1) -> bool:
        return Runner(self.root, self.results, commit, read_rows(TABLE), times).run(names)

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.results.read_text().splitlines()]

    def outcomes(self) -> list[tuple[str, str]]:
        return [(line["test"], line["outcome"]) for line in self.lines()]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Its processes load no plugin but the one that they need: the others take seconds each time."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    return Tree(tmp_path)


def test_a_line_has_its_rows_figures_commit_minutes_and_machine(tree: Tree):
    assert tree.run("R-01")
    [line] = tree.lines()
    assert (line["rows"], line["test"], line["outcome"], line["commit"]) == (["R-01", "R-02"], FIRST, "passed", "abc")
    assert line["figures"] == {"fires": 7, "seen": "nothing odd"}
    assert line["cores"] == os.cpu_count()
    assert line["memory_gib"] >= 1
    assert line["minutes"] >= 0
    assert tree.run("S-03"), "a row that has no long test runs nothing"
    assert len(tree.lines()) == 1


def test_each_line_is_written_before_the_next_test_begins_and_one_of_no_row_comes_last(tree: Tree):
    tree.second("assert RESULTS.read_text().count('test_first') == 1")
    assert tree.run()
    assert tree.outcomes() == [(FIRST, "passed"), (SECOND, "passed"), (OF_NO_ROW, "passed")]
    assert tree.lines()[-1]["rows"] == []


def test_what_passed_at_the_same_commit_is_passed_over_and_what_failed_is_run_again(tree: Tree):
    tree.second("assert False")
    assert not tree.run("R-02")
    tree.second("pass")
    assert tree.run("R-02")
    assert tree.run("R-02")
    assert sorted(tree.outcomes()) == [(FIRST, "passed"), (SECOND, "failed"), (SECOND, "passed")]
    assert tree.run("R-01", commit="def")
    assert [line["commit"] for line in tree.lines()] == ["abc"] * 3 + ["def"]


def test_a_test_that_has_to_pass_several_times_is_run_until_it_has_or_fails(tree: Tree):
    assert tree.run("R-01")
    assert tree.run("R-01", times=2)
    tree.second("assert RESULTS.read_text().count('test_second') == 0")
    assert not tree.run("R-02", times=3)
    assert tree.outcomes() == [(FIRST, "passed")] * 3 + [(SECOND, "passed"), (SECOND, "failed")]


@pytest.mark.parametrize(
    ("body", "outcome"),
    [("os.kill(os.getpid(), signal.SIGKILL)", "crashed"), ("pytest.skip('no root here')", "skipped")],
)
def test_a_test_that_ends_its_process_or_is_skipped_has_not_passed_and_the_others_run(tree: Tree, body, outcome):
    tree.second(body)
    assert not tree.run()
    assert tree.outcomes() == [(FIRST, "passed"), (SECOND, outcome), (OF_NO_ROW, "passed")]


def test_a_run_that_was_stopped_goes_on_with_the_test_that_was_running(tree: Tree):
    """The second test ends its runner, as someone does who needs the machine; then it would wait for ever."""
    tree.second("(RESULTS.parent / 'pid').write_text(str(os.getpid())); os.kill(os.getppid(), 15); signal.pause()")
    code = f"""if 1:
        import signal
        from pathlib import Path
        from tests.long.runner import Runner
        from tests.long.table import read_rows
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
        Runner(Path({str(tree.root)!r}), Path({str(tree.results)!r}), "abc", read_rows({TABLE!r})).run()
    """
    stopped = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert b"KeyboardInterrupt" in stopped.stderr
    assert tree.outcomes() == [(FIRST, "passed")]
    with pytest.raises(ProcessLookupError):  # nothing of the test is left behind
        os.kill(int((tree.root / "pid").read_text()), 0)
    tree.second("pass")
    assert tree.run()
    assert tree.outcomes() == [(FIRST, "passed"), (SECOND, "passed"), (OF_NO_ROW, "passed")]


def test_a_row_names_its_tests_and_the_long_runs_of_its_faults():
    [row] = read_rows("| R-08 pause | holds | `tests/a/test_b.py::test_c` text; faults `pause`, `kill-all` | 1 | 2 |")
    assert row.names("tests/a/test_b.py::test_c[300]")
    assert row.names("tests/system/test_faults.py::test_thirty_of_a_kind_at_the_shipped_ttl[kill-all]")
    assert not row.names("tests/system/test_faults.py::test_thirty_of_a_kind_at_the_shipped_ttl[kill]")
    assert not row.names("tests/a/test_b.py::test_c_too")


def test_a_tree_with_changes_and_a_row_that_is_not_there_run_nothing(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(Runner, "run", None)
    assert program.main(["R-99"]) == 2
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for folder in program.TESTED:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    clean = program.commit_of(tmp_path)
    (tmp_path / "notes.md").write_text("not tested")
    assert program.commit_of(tmp_path) == clean
    (tmp_path / "src" / "a.py").write_text("1")
    assert program.commit_of(tmp_path) == f"{clean}+"
    monkeypatch.setattr(program, "commit_of", lambda _root: f"{clean}+")
    assert program.main([]) == 2
    assert "commit them first" in capsys.readouterr().err
