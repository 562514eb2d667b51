"""`horae drill restore`: the newest backup of a cell is restored, opened, audited and thrown away."""

import json
import os

import pytest

from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.catcher import catching
from tests.drills.conftest import last_answer
from tests.engine.running import running
from tests.keyring import sealed
from tests.memory import quick_folder
from tests.steps import a_job, every, query, until
from tests.system.restore.backups import PGBACKREST, STANZA, Repositories
from tests.system.restore.trial import trying

can_restore = pytest.mark.skipif(
    not PGBACKREST.exists() or "HORAE_TEST_DSN" in os.environ, reason="needs pgbackrest and a server of our own"
)
JOBS = 10
OLD_ENOUGH_S = 140
"""The audit of fires judges no fire of the last two minutes."""


@can_restore
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_the_newest_backup_is_restored_opened_audited_and_thrown_away(
    cluster, store, environment, started, monkeypatch, tmp_path, record_property
):
    with quick_folder("horae-drill-backup") as folder, quick_folder("horae-scratch") as scratch:
        scratch.chmod(0o755)  # PostgreSQL runs as another user
        repositories = Repositories(folder)
        async with catching(store.cells[0].clock.now) as catcher, trying(folder, repositories, cluster) as trial:
            async with Store.of(trial.cells) as own:
                ctx = PlatformContext(sealed(own), "test")
                await tenants.find_platform(ctx)
                tenant = await tenants.create(ctx, "acme", width=4096)
                await query(own, "update cell set environment = 'staging'")
                async with running(own):
                    acme = Context.of(sealed(own), tenant, "test")
                    for number in range(JOBS):
                        await a_job(acme, f"job-{number}", every(acme, 1), target=HttpTarget(catcher.url))
                    await until(lambda: len(catcher.arrivals) > OLD_ENOUGH_S * JOBS, 2 * OLD_ENOUGH_S)
                    await trial._archive()
            before = [dict(row) for row in await query(store.cells[0], "select * from cell_witness")]
            monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in trial.cells]))
            for name, value in repositories._secrets.items():
                monkeypatch.setenv(name, value)
            child = started(
                *("drill", "restore", "--cell", "cell-0", "--stanza", STANZA, "--config", str(repositories.config)),
                *("--scratch", str(scratch), "--folder", str(tmp_path / "reports"), "--reason", "a try", "--json"),
            )
            assert await child.ended(300) == 0, child.tail()
            told = last_answer(child)
            assert told["passed"], told
            result = told["result"]
            assert [one["step"] for one in result["steps"]] == [
                *("restored", "replayed", "counted", "opened", "verified", "way back"),
            ]
            assert result["expected_fires"] > JOBS, told
            assert result["rto_s"] > 0
            record_property("rto_s", result["rto_s"])
            record_property("rpo_s", result["rpo_s"])
            assert list(scratch.iterdir()) == [], "the scratch server is gone"
            async with Store.of(trial.cells) as own:
                assert all(cell.is_open for cell in own.cells), "the cell of today is still the cell of today"
                generations = await query(own, "select generation from cell_generation")
                assert {row["generation"] for row in generations} == {1}
                assert before == [dict(row) for row in await query(store.cells[0], "select * from cell_witness")]
