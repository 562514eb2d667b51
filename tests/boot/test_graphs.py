"""Graphs from the command line: created from a file, drawn, and let go on."""

import asyncio
import re

from horae.boot.commands.graph_lines import tree
from horae.domain.ids import Prefix, public
from horae_client import Step
from tests.engine.graphs import a_graph, begin, step
from tests.engine.test_graphs import draining

GRAPH = """
cron: "0 2 1 1 *"
run_deadline: 7200
steps:
  - name: extract
    target: {kind: http, url: "http://127.0.0.1:9/extract"}
    retry: {max_failures: 1}
  - name: load
    needs: [extract]
  - name: audit
    needs: [extract]
    rule: all_done
  - name: report
    needs: [load, audit]
    rule: none_failed
"""


def test_a_graph_is_created_drawn_and_its_run_goes_on_by_a_persons_word(horae, tmp_path):
    horae("migrate")
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH)
    drawn = [line.rstrip() for line in horae("graph", "create", "NIGHTLY", "--file", str(file)).splitlines()]
    assert drawn == [
        "NIGHTLY, version 1, ACTIVE: 4 steps, a run may take 7200 s",
        "extract       POST http://127.0.0.1:9/extract",
        "├─ load       queue NIGHTLY.load",
        "└─ audit      queue NIGHTLY.audit; all_done",
        "   └─ report  queue NIGHTLY.report; none_failed; needs load, audit",
    ]
    assert horae("graph", "show", "NIGHTLY").splitlines() == drawn
    assert "  steps    extract, load, audit, report; horae graph" in horae("job", "show", "NIGHTLY")
    assert "has not run yet" in horae("graph", "runs", "NIGHTLY")
    file.write_text(GRAPH.replace("run_deadline: 7200", "run_deadline: 60"))
    assert "version 2, ACTIVE: 4 steps, a run may take 60 s" in horae("graph", "update", "NIGHTLY", "-f", str(file))
    horae("job", "trigger", "NIGHTLY", "--key", "k", status=5)  # no node runs
    horae("job", "create", "plain")
    assert "is not a graph" in horae("graph", "show", "plain", status=3)
    assert "needs `steps:`" in horae(
        "graph", "create", "x", "--file", _written(tmp_path, "cron: '0 2 * * *'"), status=1
    )
    said = horae("graph", "run", "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", status=3)
    assert "no run" in said
    for verb in ("retry", "skip", "succeed"):
        horae("graph", verb, "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", "load", status=3)
    assert len(horae.json("graph", "show", "NIGHTLY")["steps"]) == 4
    assert horae.json("graph", "runs", "NIGHTLY") == []


async def test_a_run_is_shown_with_the_states_of_its_steps(horae, ctx, store, monkeypatch, tmp_path):
    monkeypatch.setenv("HORAE_TENANT", "acme")
    url = "http://127.0.0.1:9"
    await a_graph(ctx, [step(url, "extract"), step(url, "load", "extract")], name="NIGHTLY")
    run = public(Prefix.INSTANCE, await begin(ctx, "NIGHTLY"))
    async with draining(store) as drain:
        await drain()
        shown = await asyncio.to_thread(horae, "graph", "run", run)
        assert "OPEN, blocked: a person decides" in shown
        assert re.search(r"extract +✗ DEAD +CONNECT +ins_", shown), shown
        assert re.search(r"└─ load +! BLOCKED", shown), shown
        skipped = await asyncio.to_thread(horae, "graph", "skip", run, "load")
        assert re.search(r"└─ load +- WAIVED +SKIPPED_BY_PERSON", skipped), skipped
        succeeded = await asyncio.to_thread(horae, "graph", "succeed", run, "extract")
        assert re.search(r"extract +✓ SUCCESS +MARKED_BY_PERSON", succeeded), succeeded
        assert "WAITING" in await asyncio.to_thread(horae, "graph", "retry", run, "extract")
    assert run in await asyncio.to_thread(horae, "graph", "runs", "NIGHTLY")


async def test_the_elements_of_a_mapped_step_are_listed(horae, ctx, store, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", "acme")
    await a_graph(ctx, [step("http://127.0.0.1:9", "notify", each={"$run": "payload"})], name="NIGHTLY")
    run = public(Prefix.INSTANCE, await begin(ctx, "NIGHTLY", payload=["a", "b"]))
    async with draining(store) as drain:
        for _ in range(3):
            await drain()
    shown = await asyncio.to_thread(horae, "graph", "children", run, "notify")
    assert re.findall(r"(\d) +│ DEAD +│ (\w+) +│ ins_", shown) == [("0", "CONNECT"), ("1", "CONNECT")], shown
    assert "no element" in await asyncio.to_thread(horae, "graph", "children", run, "notify", "--state", "SUCCESS")
    assert "2 elements, 2 DEAD" in await asyncio.to_thread(horae, "graph", "run", run)


def test_a_chain_of_a_thousand_steps_is_drawn():
    steps = [Step(f"s{n}", needs=[f"s{n - 1}"] if n else [], rule="all_success") for n in range(1000)]
    drawn = list(tree(steps))
    assert [step.name for _, step in drawn] == [step.name for step in steps]
    assert drawn[2][0] == "   └─ "


def _written(folder, text):
    file = folder / "other.yaml"
    file.write_text(text)
    return str(file)
