"""A cell is lost and restored from its backup: what was acknowledged is there, and the past does not fire again."""

import os
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import SystemRandom
from time import monotonic

import pytest

from horae.domain.errors import Unauthenticated
from horae.security import credentials
from horae.service.identity.callers import Callers
from horae.store.connections import admission
from horae.store.store import Store
from horae.upkeep.generations import GenerationWatch
from tests.archive.s3_server import KEY_ID, SECRET, seaweedfs
from tests.catcher import catching
from tests.cluster import running_data
from tests.memory import quick_folder
from tests.steps import query
from tests.system.restore import report
from tests.system.restore.backups import PGBACKREST, Repositories
from tests.system.restore.trial import fires_again, is_refused, known_tasks, trying

can_restore = pytest.mark.skipif(
    not PGBACKREST.exists() or "HORAE_TEST_DSN" in os.environ, reason="needs pgbackrest and a server of our own"
)
RTO_S = 600.0
RPO_S = 60.0


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of generations is forgotten after it."""
    monkeypatch.setattr(admission, "_generations", {})
    monkeypatch.setattr(admission, "_marks", {})


@pytest.fixture
def disk():
    """A folder on the disk that PostgreSQL, which runs as another user, may enter."""
    with tempfile.TemporaryDirectory(prefix="horae-restore-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def may_call(store, made):
    try:
        await Callers(store).find(credentials.read(made.text))
    except Unauthenticated:
        return False
    return True


@can_restore
@pytest.mark.timeout(300)
async def test_a_cell_restored_to_a_random_time_has_what_was_acknowledged_and_fires_nothing_twice(
    cluster, store, record_property
):
    """The second repository restores it while the first cannot be reached; then the old cell comes back."""
    jobs = 20
    with quick_folder("horae-restore") as folder:
        repositories = Repositories(folder)
        async with catching(store.cells[0].clock.now) as catcher, trying(folder, repositories, cluster) as trial:
            began, ended = await trial.load(catcher, jobs, pause_s=0.02, seconds=4)
            target = began + (ended - began) * SystemRandom().random()
            record_property("target", f"{target:%H:%M:%S.%f}")
            repositories.lose_first()
            async with trial.restored(target, repository=2) as cells:
                assert await is_refused(cells), "closed until a person opens it, also for a process that ran before"
                opened = await trial.open(cells)
                assert opened.doubts > 0
                async with Store.of(cells) as own:
                    assert trial.acknowledged_before(target) <= await known_tasks(own)
                    assert not await may_call(own, trial.revoked), "it was revoked after the target"
                await fires_again(cells, catcher, jobs)
                fires = {(one.job, one.fire_time) for one in catcher.arrivals}
                assert len(fires) == len(catcher.effects), "a fire has one key, before the restore and after it"
                admission._generations.clear()
                settings = repositories.settings(folder / "data") | {"archive_mode": "off"}
                with running_data(folder, settings) as port:
                    old = cells[0].model_copy(update={"dsn": f"postgresql://postgres@127.0.0.1:{port}/horae"})
                    async with Store.of([old, cells[1]]) as of_the_past:
                        assert await GenerationWatch(of_the_past).once() == 1
                        assert await query(of_the_past.cells[0], "select from shard where state = 'ACTIVE'") == []
                    assert await is_refused([old])


@can_restore
@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
async def test_a_large_cell_is_restored_in_time_from_both_repositories(cluster, store, disk, record_property):
    """The sizes can be set for a try: HORAE_RESTORE_ROWS, _FIRES_PER_S, _MINUTES, _RESTORES."""
    rows, rate = size("ROWS", 10_000_000), size("FIRES_PER_S", 500)
    minutes, many = float(os.environ.get("HORAE_RESTORE_MINUTES", "10")), size("RESTORES", 10)
    folder, bucket = disk / "cell", disk / "bucket"
    folder.mkdir()
    bucket.mkdir()
    with seaweedfs(bucket, certificate(disk)) as s3:
        repositories = Repositories(folder, s3.tls_port, (KEY_ID, SECRET))
        async with (
            catching(store.cells[0].clock.now) as catcher,
            trying(folder, repositories, cluster, base_rows=rows) as trial,
        ):
            began, ended = await trial.load(catcher, rate, pause_s=0.05, seconds=60 * minutes, archived=False)
            rpo_s = 0.0
            for number in range(many + 1):
                target = began + (ended - began) * SystemRandom().random() if number else None
                repository = 1 if number <= many // 2 else 2
                if number == many // 2 + 1:
                    repositories.lose_first()
                started = monotonic()
                async with trial.restored(target, repository) as cells:
                    assert await is_refused(cells)
                    await trial.open(cells)
                    await fires_again(cells, catcher, rate)
                    rto_s = monotonic() - started
                    async with Store.of(cells) as own:
                        known = await known_tasks(own)
                if target is None:
                    rpo_s = trial.rpo_s(known)
                    assert rpo_s <= RPO_S
                    ended = min(ended, trial.lost_at - timedelta(seconds=rpo_s + 2))  # what lies behind was lost
                    continue
                before = trial.acknowledged_before(target)
                fires = {(one.job, one.fire_time) for one in catcher.arrivals}
                run = {
                    "rows": rows,
                    "fires_per_s": rate,
                    "minutes": minutes,
                    "repository": repository,
                    "target": target.isoformat(),
                    "acknowledged": len(before),
                    "lost": len(before - known),
                    "doubled": len(catcher.effects) - len(fires),
                    "rto_s": round(rto_s, 1),
                    "rpo_s": rpo_s,
                }
                report.append({**run, **stamp()})
                for nothing in report.NOTHING:
                    assert run[nothing] == 0, nothing
                assert rto_s <= RTO_S
    record_property("restores", many)


def size(name, full):
    return int(os.environ.get(f"HORAE_RESTORE_{name}", full))


def certificate(folder):
    """A certificate of our own for 127.0.0.1, and its key."""
    names = folder / "cert.pem", folder / "key.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command = ["openssl", *words, "-out", names[0], "-keyout", names[1]]
    subprocess.run(command, check=True, capture_output=True)
    return names


def stamp():
    """When a run was made, and on which commit."""
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True, check=True)
    return {"date": datetime.now(UTC).date().isoformat(), "commit": commit.stdout.strip()}


def test_the_page_is_that_of_the_report():
    assert report.PAGE.read_text() == report.page(), "run `python -m tests.system.restore.report`"
