"""Horae asks for its own drills: a job in the queue `drills`, and a worker that runs what its own file says."""

import json
import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from horae.boot.drills.scheduled import read_drills
from horae.boot.schedule_files.declared import source_of
from horae.boot.schedule_files.yaml import read
from horae.domain.drills.drills import DrillKind
from horae.domain.errors import Invalid
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import OnceTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.tenants.tenants import Tenant
from horae.security.roles import Role
from horae.service.drills.load import drill_context
from horae.service.jobs import jobs
from tests.boot.api_thread import ApiThread
from tests.drills.conftest import LONG_S
from tests.engine.running import running
from tests.steps import query, until
from tests.system.children import ROOT

DRILLS = """
[outage-of-targets]
words = ["--hold", "60", "--folder", "drills"]
"""


@pytest.mark.timeout(180)
async def test_a_job_asks_for_a_drill_and_one_that_is_refused_becomes_a_dead_letter(
    ctx, store, cells, started, monkeypatch, tmp_path
):
    """These cells are of tests, where every drill is refused: so the answer proves that the command ran."""
    file = tmp_path / "drills.toml"
    file.write_text(DRILLS)
    drill = await drill_context(ctx)
    api = ApiThread(cells)
    try:
        monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in cells]))
        monkeypatch.setenv("HORAE_URL", api.url)
        monkeypatch.setenv("HORAE_KEY", api.key(drill.tenant.name, Role.WORKER))
        worker = started("drill", "work", str(file))
        async with running(store):
            made = Definition(trigger=OnceTrigger(store.clock.now()), target=QueueTarget("drills"))
            await jobs.create(drill, DrillKind.OUTAGE_OF_TARGETS.value, made)

            async def died():
                return bool(await query(store, "select from dead_letter")) or not worker.running

            await until(died, LONG_S)
        [row] = await query(store, "select error_msg from instance_history where state = 'DEAD'")
        assert "staging only" in row["error_msg"], worker.tail()
    finally:
        api.close()


def test_the_files_of_the_page_are_read(tmp_path):
    page = (ROOT / "docs/drills.md").read_text()
    [text] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    source = source_of(read(text, "page"), "drills", "page")
    found = source.parse(Tenant(uuid4(), "drill"), datetime.now(UTC))
    assert {one.definition.target for one in found} == {QueueTarget("drills")}
    [text] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "drills.toml").write_text(text)
    assert {one.name for one in found} == {kind.value for kind in read_drills(tmp_path / "drills.toml")}


def test_a_file_without_drills_is_refused(tmp_path):
    file = tmp_path / "drills.toml"
    with pytest.raises(Invalid, match="cannot be read"):
        read_drills(file)
    for text in ("[earthquake]\nwords = []", "[restore]\nshell = 'rm'", "[restore"):
        file.write_text(text)
        with pytest.raises(Invalid, match="has no drills"):
            read_drills(file)
    file.write_text(DRILLS)
    assert list(read_drills(file)) == [DrillKind.OUTAGE_OF_TARGETS]
