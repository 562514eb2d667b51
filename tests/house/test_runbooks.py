"""Every alert, of Prometheus and of Horae itself, has a runbook whose commands, metrics and log events exist.

`tests/house/test_documents.py` checks the links of all pages.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml
from tools.metrics import FAMILIES

from horae.boot.cli import whole
from horae.domain.alerts.kinds import AlertKind
from horae.runtime.metrics import MetricKind

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy/prometheus/horae.rules.yml"
RUNBOOKS = ROOT / "docs/runbooks"
ALERTS = {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}
PAGES = sorted(page for page in RUNBOOKS.glob("*.md") if page.stem != "index")
SECTIONS = ["## What it means", "## What to look at", "## What to do"]
SUFFIXES = {MetricKind.COUNTER: ("_total",), MetricKind.HISTOGRAM: ("_bucket", "_sum", "_count", "")}
METRICS = {
    one.name + suffix for families in FAMILIES.values() for one in families for suffix in SUFFIXES.get(one.kind, ("",))
}
LOG_EVENTS = set((ROOT / "tests/house/log_events.txt").read_text().split())


def commands_of(page):
    """The commands that a page names: in blocks, and in code inside of sentences."""
    text = page.read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return lines + re.findall(r"`(horae [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def test_each_page_is_about_a_rule_of_prometheus_or_a_kind_of_alert_and_each_of_them_has_a_page():
    assert {page.stem for page in PAGES} == ALERTS.keys() | set(AlertKind)
    assert {kind.runbook_page for kind in AlertKind} <= {f"runbooks/{page.name}" for page in PAGES}


def test_each_alert_of_prometheus_has_a_severity_texts_and_a_link_to_its_page():
    assert len(ALERTS) >= 14
    for name, rule in ALERTS.items():
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        assert rule["annotations"]["runbook_url"] == f"docs/runbooks/{name}.md"


def test_the_list_of_runbooks_has_every_alert():
    listed = re.findall(r"^\| \[(\w+)\]\(\w+\.md\) \| (\w+) \|", (RUNBOOKS / "index.md").read_text(), re.MULTILINE)
    rules = [(name, rule["labels"]["severity"]) for name, rule in ALERTS.items()]
    assert listed == rules + [(kind.value, kind.severity.value) for kind in AlertKind]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_runbook_says_what_it_means_what_to_look_at_and_what_to_do(page):
    assert page.read_text().startswith(f"# {page.stem}: ")
    assert re.findall(r"^## .*", page.read_text(), re.MULTILINE) == SECTIONS
    assert commands_of(page)


@pytest.mark.parametrize("page", [RUNBOOKS / "index.md", *PAGES], ids=lambda page: page.stem)
def test_the_commands_of_a_runbook_are_understood(page):
    for line in commands_of(page):
        program, *words = shlex.split(line)
        if program != "horae":
            assert program in {"curl", "pg_isready", "pgbackrest", "psql", "timedatectl"}
            continue
        command = typer.main.get_command(whole())
        while hasattr(command, "commands"):
            if command.invoke_without_command and (not words or words[0] not in command.commands):
                break
            assert words, f"{line} is no whole command"
            command = command.commands[words.pop(0)]
        if "--help" not in words:
            command.make_context(line, words)  # raises where arguments or options are not understood


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_metrics_and_log_events_of_a_runbook_exist(page):
    text = page.read_text()
    assert set(re.findall(r"\b(horae_\w+)", text)) <= METRICS
    assert set(re.findall(r"`([a-z]+\.[a-z_]+)`", text)) <= LOG_EVENTS


def test_the_rules_use_metrics_that_exist():
    used = {name for rule in ALERTS.values() for name in re.findall(r"\b(horae_\w+)", rule["expr"])}
    assert used <= METRICS


def test_each_alert_is_tried_with_made_up_series():
    tried = yaml.safe_load((RULES.parent / "horae.rules.test.yml").read_text())["tests"]
    assert [one["name"] for one in tried] == list(ALERTS)
