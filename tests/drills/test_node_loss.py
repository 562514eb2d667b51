"""`horae drill node-loss`: one of two nodes is frozen under load, and the way back is taken, however the drill ends."""

from collections import defaultdict
from pathlib import Path
from signal import SIGKILL

import msgspec
import pytest

from horae.boot.drills import report_files
from tests.drills.conftest import ALIVE, LONG_S, last_answer
from tests.engine.fleet import ALL_ROWS
from tests.steps import query, until

pytestmark = pytest.mark.timeout(240)


async def two_nodes(store, started):
    nodes = [started("node"), started("node")]

    async def both_lead():
        return all([len(await query(cell, ALIVE)) == 2 for cell in store.cells])

    await until(both_lead, LONG_S)
    return nodes


def drill(started, folder, node, *words):
    return started(
        *("drill", "node-loss", "--freeze", "--pid", str(node.pid), "--fires", "12", "--reason", "a try"),
        *("--folder", str(folder), "--hold", "30", "--settle", "0", "--json", *words),
    )


def is_frozen(node):
    return Path(f"/proc/{node.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def test_a_frozen_node_is_survived_and_continued_and_the_report_is_signed(staging, started, tmp_path):
    node, _other = await two_nodes(staging, started)
    made = started("keyring", "create-signing-key")
    assert await made.ended(LONG_S) == 0, made.tail()
    child = drill(started, tmp_path / "reports", node)
    assert await child.ended(LONG_S) == 0, child.tail()
    told = last_answer(child)
    assert told["passed"], told
    folder, result = Path(told["folder"]), told["result"]
    assert 0 < result["rto_s"] < 60
    assert (result["rpo_s"], result["findings"], result["lost"]) == (0.0, 0, 0)
    assert result["writes"] > 0
    assert result["late"] > 0, "the fires of the frozen node waited for the other one"
    fires = defaultdict(list)
    for row in await query(staging, ALL_ROWS):
        fires[row["job_id"]].append(row["fire_time"])
    assert len(fires) == 12
    for times in fires.values():
        assert len(times) == 1 + (max(times) - min(times)).total_seconds(), "every second has one row"
    assert not is_frozen(node)
    names = [one["step"] for one in result["steps"]]
    assert names == ["load", "calm", "broken", "fault", "recovered", "way back", "back"]
    assert "<svg" in (folder / "picture.svg").read_text()
    assert "| RTO |" in (folder / "report.md").read_text()
    assert report_files.faults(folder) == []
    [row] = await query(staging, "select detail from audit_log where action = 'drill.ended'")
    assert row["detail"]["result"]["rto_s"] == result["rto_s"]
    signed = msgspec.json.decode((folder / "signature.json").read_bytes(), type=report_files.SignedFiles)
    assert row["detail"]["report_sha256"] == signed.sha256["report.json"]
    assert report_files.faults(folder, signed.signature.public_key) == []
    assert report_files.faults(folder, "00" * 32) == ["another key has signed it"]
    (folder / "report.md").write_text("all was well")
    assert report_files.faults(folder) == ["report.md was changed"]


@pytest.mark.long
async def test_a_killed_drill_leaves_no_frozen_node_behind(staging, started, tmp_path):
    node, _other = await two_nodes(staging, started)
    child = drill(started, tmp_path / "reports", node)
    await until(lambda: is_frozen(node) or not child.running, LONG_S)
    child.signal(SIGKILL)
    await until(lambda: not is_frozen(node), LONG_S)
    [log] = (tmp_path / "reports").glob("*/guardian.jsonl")
    await until(lambda: '"why"' in log.read_text(), LONG_S)
    assert "the drill is gone" in log.read_text()
    assert len(await query(staging, "select from audit_log where action = 'drill.began'")) == 1
