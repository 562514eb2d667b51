"""`make reports`: what counts as stale, what is skipped, what is drawn."""

import subprocess

import pytest
from benchmarks.measure import Bound, judged

from benchmarks import report


@pytest.fixture
def git(tmp_path, monkeypatch):
    """A repository of its own, with something watched and something else."""
    monkeypatch.setattr(report, "ROOT", tmp_path)
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]

    def run(*words: str) -> str:
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def change(path: str, text: str) -> str:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        run("add", ".")
        run("commit", "-qm", path)
        return run("rev-parse", "--short", "HEAD")

    run("init", "-q")
    run.change = change
    return run


def test_a_report_is_stale_when_the_engine_changed_after_it(git):
    first = git.change("src/horae/engine/a.py", "1")
    assert not report.is_stale(first)
    second = git.change("docs/a.md", "1")
    assert not report.is_stale(first)
    third = git.change("src/horae/store/b.py", "1")
    assert report.is_stale(first)
    assert report.is_stale(f"{second}+")
    assert not report.is_stale(third)


def test_a_change_that_is_not_committed_makes_every_report_stale(git):
    here = git.change("src/horae/delivery/a.py", "1")
    (report.ROOT / "src/horae/delivery/a.py").write_text("2")
    assert report.is_stale(here)


def test_a_commit_nobody_knows_is_stale(git):
    git.change("src/horae/engine/a.py", "1")
    assert report.is_stale("0123456")


def test_a_shallow_clone_says_that_it_cannot_tell(git, tmp_path, monkeypatch):
    git.change("src/horae/engine/a.py", "1")
    git.change("src/horae/engine/a.py", "2")
    assert report.knows_history()
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth", "1", f"file://{tmp_path}", str(shallow))
    monkeypatch.setattr(report, "ROOT", shallow)
    assert not report.knows_history()


def test_a_tree_with_changes_is_not_measured(monkeypatch, capsys):
    monkeypatch.setattr(report, "commit", lambda: "0123456+")
    assert report.main([]) == 2
    assert "commit them first" in capsys.readouterr().err


def test_what_has_a_report_of_this_commit_is_skipped(monkeypatch, tmp_path):
    measured = []
    monkeypatch.setattr(report, "commit", lambda: "0123456")
    monkeypatch.setattr(report, "write_page", lambda: None)
    monkeypatch.setattr(report, "read", lambda name: {"commit": "0123456" if name == "push" else "old", "ok": True})
    monkeypatch.setattr(report, "_measure", lambda entry: measured.append(entry.name))
    assert report.main(["push", "herd", "store"]) == 0
    assert measured == ["store", "herd"]


def test_a_missed_bound_is_a_sentence_in_the_report():
    found = {"ratio": 0.4, "p95_ms": 90.0, "more": {"all": 0.2}, "fires": 10, "rows": 9}
    bounds = [
        Bound("ratio", least=0.45),
        Bound("p95_ms", most=100),
        Bound("more.all", most=0.15),
        Bound("fires", equals="rows"),
    ]
    assert judged(found, bounds)["missed"] == [
        "ratio is 0.4, at least 0.45 was wanted",
        "more.all is 0.2, at most 0.15 was wanted",
        "fires is 10, rows is 9: they should be equal",
    ]
    assert judged(found, bounds[1:2]) == found | {"missed": [], "ok": True}


def test_the_picture_has_a_panel_for_each_ratio_that_was_ever_measured():
    history = [
        {"date": "2026-01-01", "commit": "a", "name": "push", "figures": {"ratio": 0.5}},
        {"date": "2026-01-02", "commit": "b", "name": "push", "figures": {"ratio": 0.6}},
        {"date": "2026-01-02", "commit": "b", "name": "cron", "figures": {"ratio": 9.0, "worst": 2.0}},
    ]
    drawn = report.picture(history)
    assert drawn.count("<polyline") == 3
    assert "push: ratio, last 0.6" in drawn
    assert drawn.count("<circle") == 4
