"""Health is progress: what has come to a standstill is named, although the process lives and answers."""

from structlog.testing import capture_logs

from horae.engine import node as node_module
from horae.engine.progress import ProgressWatch
from horae.runtime.loop import Loop
from horae.store.cells import Cell
from horae.store.store import Store
from tests.engine.running import SHORT_TTL, running
from tests.steps import until
from tests.system.proxy import proxied


class Idle:
    async def once(self):
        return 0


async def test_a_loop_that_does_not_come_round_is_named_once_and_once_when_it_goes_on():
    loop = Loop("look", Idle(), 5)
    progress = ProgressWatch({"lease": lambda: True})
    progress.watch("look of cell-0", loop)
    await progress.once()
    assert progress.stuck == []
    loop.last_success_at -= 21  # two pauses and the patience
    with capture_logs() as logs:
        await progress.once()
        await progress.once()
    assert progress.stuck == ["look of cell-0"]
    assert [(line["event"], line["what"]) for line in logs] == [("node.stuck", ["look of cell-0"])]
    loop.last_success_at += 21
    with capture_logs() as logs:
        await progress.once()
    assert [line["event"] for line in logs] == ["node.recovered"]


async def test_a_node_cut_off_from_one_cell_says_so_and_goes_on_when_it_is_back(cells, monkeypatch):
    monkeypatch.setattr(node_module, "LISTENER_INTERVAL_S", 0.5)
    monkeypatch.setattr(node_module, "PROGRESS_INTERVAL_S", 0.1)
    with proxied(cells[0].dsn) as proxy:
        behind = [Cell(cells[0].name, proxy.dsn), Cell(cells[1].name, cells[1].dsn)]
        async with Store(behind) as store, running(store, ttl=SHORT_TTL) as node:
            await node.progress.once()
            assert node.progress.stuck == []
            proxy.cut()
            await until(lambda: "lease of cell-0" in node.progress.stuck)
            assert not [what for what in node.progress.stuck if "cell-1" in what]
            await until(lambda: "notifications of cell-0" in node.progress.stuck)
            proxy.mend()
            await until(lambda: not node.progress.stuck)
