"""`horae drill primary-loss` on a Patroni cluster: the cell fires again, and no acknowledged write is lost."""

import os
import pwd
import shutil
import tempfile
from pathlib import Path

import pytest
import yaml

from horae.boot.drills.faults import PrimaryLoss
from horae.boot.drills.processes import process
from horae.boot.drills.runner import DrillPlan, run_drill
from horae.delivery.patroni import PatroniMember
from horae.domain.drills.drills import DrillKind
from horae.domain.errors import Invalid
from horae.runtime.settings import CellSettings
from horae.service.context import PlatformContext
from horae.store import migrations
from horae.store.connections import primary
from horae.store.connections.primary import connect_to_primary
from horae.store.store import Store
from tests.engine.running import running
from tests.keyring import sealed
from tests.system.failover.patroni import PATRONI, REST_PORT, Member, PatroniCluster
from tests.system.namespace import namespaces

can_try = pytest.mark.skipif(
    not (Path(PATRONI).exists() and namespaces()), reason="needs `tools/services failover`, root and namespaces"
)
USER, PASSWORD = "drill", "a password of the tests"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of timelines is forgotten after it."""
    monkeypatch.setattr(primary, "_newest", {})


@pytest.fixture
def credential(tmp_path):
    file = tmp_path / "patroni.credential"
    file.write_text(f"{USER}:{PASSWORD}\n")
    file.chmod(0o600)
    return file


@pytest.fixture
async def patroni(monkeypatch):
    """A cluster whose REST API wants a credential for changes."""
    write = Member.write

    def write_with_credential(member, zone):
        write(member, zone)
        file = member.folder / "patroni" / "member.yml"
        told = yaml.safe_load(file.read_text())
        told["restapi"]["authentication"] = {"username": USER, "password": PASSWORD}
        file.write_text(yaml.safe_dump(told))
        os.chown(file, pwd.getpwnam("postgres").pw_uid, pwd.getpwnam("postgres").pw_gid)

    monkeypatch.setattr(Member, "write", write_with_credential)
    folder = Path(tempfile.mkdtemp(prefix="horae-drill-patroni-"))
    folder.chmod(0o755)
    cluster = PatroniCluster(folder)
    try:
        await cluster.start()
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def plan(name):
    return DrillPlan(
        kind=DrillKind.PRIMARY_LOSS,
        name=name,
        environment="staging",
        deployment="",
        reason="a try",
        fires_per_s=20,
        hold_s=90.0,
        limit_s=300.0,
        rto_target_s=60.0,
        rpo_target_s=0.0,
        settle_s=0.0 if name == "killed" else 130.0,
    )


@can_try
@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_the_loss_of_a_primary_is_survived(patroni, credential, tmp_path, record_property):
    connection = await connect_to_primary(patroni.dsn("postgres"), timeout=5)
    await connection.execute("create database horae")
    await connection.close()
    cell = CellSettings(name="cell-0", dsn=patroni.dsn("horae"))
    await migrations.migrate([cell], "staging")
    async with Store.of([cell]) as own:
        ctx = PlatformContext(sealed(own), "test")
        async with running(ctx.store):
            for name in ("switched", "killed"):
                leader = await patroni.member("leader")
                server = None if name == "switched" else process(leader.postmaster)
                url = f"http://{leader.address}:{REST_PORT}"
                fault = PrimaryLoss(ctx, "cell-0", url, credential, server)
                result, _ = await run_drill(ctx, plan(name), lambda _receiver, fault=fault: fault, tmp_path / "log")
                assert result.faults == (), result
                assert (result.rpo_s, result.findings) == (0.0, 0)
                assert (await patroni.member("leader")).name != leader.name
                record_property(f"rto_s_{name}", result.rto_s)
                record_property(f"expected_fires_{name}", result.expected_fires)
                record_property(f"writes_{name}", result.writes)
                await patroni.healthy()
            leader = await patroni.member("leader")
            without = PatroniMember(f"http://{leader.address}:{REST_PORT}")
            with pytest.raises(OSError, match="401"):
                without.switch_over(leader.name, (await patroni.member("sync_standby")).name)


def test_a_credential_that_others_may_read_is_refused(credential):
    PatroniMember("http://127.0.0.1:8008", credential)
    credential.chmod(0o644)
    with pytest.raises(Invalid, match="chmod 600"):
        PatroniMember("http://127.0.0.1:8008", credential)
    credential.chmod(0o600)
    credential.write_text("only a user")
    with pytest.raises(Invalid, match="user:password"):
        PatroniMember("http://127.0.0.1:8008", credential)
    with pytest.raises(Invalid, match="address of a REST API"):
        PatroniMember("127.0.0.1:8008")
