"""Each planted bug is named by the check that should see it; without the bug the same scene keeps every promise."""

import random

import pytest

from tests.system import scenes
from tests.system.experiment import experimenting
from tests.system.planted import PLANTS, plant
from tests.system.stage import staged
from tests.system.trials import TRIALS, judged, tried

TTL, RATE = 1.5, 20
CAUGHT = {
    "token-dropped": (scenes.a_frozen_owner_answers_late, "token"),
    "local-clock": (scenes.a_node_with_a_clock_of_its_own, "early"),
    "next-from-now": (scenes.an_outage, "lost"),
    "unguarded-rescue": (scenes.an_answer_comes_while_it_is_rescued, "state"),
    "claim-in-limit": (scenes.a_worker_asks_for_little, "limit"),
    "hostname-identity": (scenes.two_nodes_on_one_host, "identity"),
    "persisted-bound": (scenes.a_takeover_after_a_lost_wake, "stuck"),
    "run-time-deadline": (scenes.the_answer_of_a_commit_is_lost, "stuck"),
}


async def played(name, cells, folder, monkeypatch, seed):
    scene, _ = CAUGHT[name]
    async with staged(cells, folder) as stage:
        await scene(stage, monkeypatch.setattr, random.Random(seed))
        return stage.seen or await stage.verdict()


def test_every_bug_has_its_scene():
    assert set(CAUGHT) == set(PLANTS)
    assert len(CAUGHT) >= 8


@pytest.mark.parametrize("name", CAUGHT)
async def test_without_the_bug_every_promise_is_kept(name, cells, tmp_path, monkeypatch):
    verdict = await played(name, cells, tmp_path, monkeypatch, 2)
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", CAUGHT)
async def test_a_planted_bug_is_named(name, seed, cells, tmp_path, monkeypatch):
    plant(name, monkeypatch.setattr)
    verdict = await played(name, cells, tmp_path, monkeypatch, seed)
    assert CAUGHT[name][1] in verdict.broken, str(verdict)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TRIALS)
async def test_a_planted_bug_is_named_on_the_whole_cluster(name, seed, monkeypatch):
    assert set(TRIALS) == set(PLANTS)
    chance = random.Random(seed)
    monkeypatch.setenv("HORAE_PLANT", name)
    async with experimenting(TTL, RATE, seed) as run:
        plant(name, monkeypatch.setattr)
        verdict = await tried(name, run, chance)
    assert verdict.broken & TRIALS[name].seen_by, str(verdict)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
async def test_without_a_bug_the_same_faults_break_nothing(seed):
    chance = random.Random(seed)
    async with experimenting(TTL, RATE, seed) as run:
        for fault in (fault for trial in TRIALS.values() for fault in trial.faults):
            run.strikes.append(await fault.strike(run.cluster, chance))
            verdict = await judged(run)
            assert verdict.ok, f"{type(fault).__name__}: {verdict}"
