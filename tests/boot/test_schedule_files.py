"""Where schedules as code come from: YAML read without surprises, modules that only leave notes."""

import doctest
import sys
from datetime import UTC, datetime
from uuid import UUID

import pytest

from horae.boot.schedule_files import modules, source_of, yaml
from horae.domain.errors import Invalid, NotFound
from horae.domain.instances.instances import Priority
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.tenants.tenants import Tenant
from horae_client import schedules

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TENANT = Tenant(id=UUID(int=0), name="acme", width=16, zone="Asia/Shanghai")


def declared(text, owner=None):
    return source_of(yaml.read(text, "jobs.yaml"), owner, "jobs.yaml").parse(TENANT, NOW)


def test_a_file_says_what_the_api_says_with_defaults_beside():
    [report, sync] = declared(
        """
        owner: billing
        defaults: &all
          priority: low
        jobs:
          report: {cron: 0 2 * * *, labels: {team: finance}, paused: true}
          sync:
            every: 90
            priority: critical
        """
    )
    assert report.definition.trigger.zone == "Asia/Shanghai"
    assert (report.definition.priority, report.paused) == (Priority.LOW, True)
    assert isinstance(sync.definition.trigger, IntervalTrigger)
    assert (sync.definition.trigger.every, sync.anchored, sync.paused) == (90, False, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jobs: {a: {cron: '* * * * *'}, a: {}}", "'a' stands there twice"),
        ("jobs: [a]", "needs `jobs:`"),
        ("owners: x\njobs: {}", "owners"),
        ("jobs: {a: {corn: 1}, b: {cron: 7}}", "a: corn"),
        ("jobs: {a: {corn: 1}, b: {cron: 7}}", "b: cron"),
        ("jobs: {a: {cron: '* * * *'}}", "a: "),
        ("jobs: {a: {every: 5, cron: '* * * * *'}}", "one trigger"),
        ("jobs: {a: {paused: 1.5}}", "true or false"),
        ("jobs: {a: text}", "must be a mapping"),
        ("jobs: {a: !!python/object/apply:os.system [id]}", "not YAML"),
        ("{", "not YAML"),
        ("a: &a [*a]\njobs: {}", "more than"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text, said):
    with pytest.raises(Invalid) as refused:
        declared(text)
    assert said in str(refused.value)


def test_texts_that_look_like_something_else_stay_texts():
    found = yaml.read("{a: no, b: 1:30, c: 2030-01-01, d: on, e: 0o7, f: 1.5, g: 12, h: true, i: ~}", "x")
    assert found == {
        "a": "no",
        "b": "1:30",
        "c": "2030-01-01",
        "d": "on",
        "e": "0o7",
        "f": 1.5,
        "g": 12,
        "h": True,
        "i": None,
    }
    assert yaml.read(yaml.to_yaml(found), "x") == found


def test_a_bomb_of_aliases_is_refused_before_it_goes_off():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(Invalid, match="aliases"):
        yaml.read("\n".join(lines), "bomb")


def test_a_module_declares_what_stands_above_its_functions(tmp_path, monkeypatch):
    (tmp_path / "acme_schedules.py").write_text(
        "from horae_client.schedules import job\n"
        "@job(cron='0 2 * * *')\n"
        "def report(): ...\n"
        "@job('second', every=60, priority='low')\n"
        "@job('first', every=30)\n"
        "def both(): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = modules.read("acme_schedules", None)
    assert source.owner == "acme_schedules"
    assert sorted(one.name for one in source.parse(TENANT, NOW)) == ["first", "report", "second"]
    assert modules.read("acme_schedules", "billing").owner == "billing"
    with pytest.raises(NotFound):
        modules.read("nowhere_to_be_found", None)
    with pytest.raises(Invalid):
        modules.read("json", None)


def test_the_decorators_example_runs():
    assert doctest.testmod(schedules).failed == 0
