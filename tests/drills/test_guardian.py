"""The guardian takes the way back when the drill asks, when it is killed, and when its time limit has passed."""

import subprocess
from pathlib import Path
from signal import SIGCONT, SIGINT, SIGKILL, SIGSTOP

import pytest

from horae.boot.drills.guarded import guarded
from horae.boot.drills.processes import ProcessRef, process
from horae.boot.drills.way_back import ContinueProcess, DropScratchServer
from horae.domain.errors import Unavailable
from tests.steps import until
from tests.system.children import Child, python

LONG_S = 60.0
FOR_EVER = "30d"


@pytest.fixture
def victim(tmp_path):
    child = Child("sleep", tmp_path / "sleep.log")
    child.spawn(["sleep", FOR_EVER])
    yield child
    child.signal(SIGCONT)
    child.end()


@pytest.fixture
def small_drill(tmp_path, victim):
    """Starts a drill that freezes the victim and waits."""
    child = Child("drill", tmp_path / "drill.log")

    def start(limit_s):
        child.spawn(python("tests.drills.frozen_by_a_drill", str(log(tmp_path)), str(victim.pid), str(limit_s)))
        return child

    yield start
    child.end()


def log(folder):
    return folder / "guardian.jsonl"


def is_frozen(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("number", [SIGKILL, SIGINT])
async def test_a_process_that_a_killed_drill_froze_goes_on(tmp_path, victim, small_drill, number):
    drill = small_drill(LONG_S)
    await until(lambda: is_frozen(victim.pid), LONG_S)
    drill.signal(number)
    await drill.ended(LONG_S)
    await until(lambda: not is_frozen(victim.pid), LONG_S)
    await until(lambda: '"why"' in log(tmp_path).read_text(), LONG_S)


async def test_the_way_back_is_taken_at_the_time_limit_although_the_drill_hangs(tmp_path, victim, small_drill):
    drill = small_drill(10.0)
    await until(lambda: is_frozen(victim.pid), LONG_S)
    drill.signal(SIGSTOP)
    await until(lambda: not is_frozen(victim.pid), LONG_S)
    await until(lambda: "the time limit has passed" in log(tmp_path).read_text(), LONG_S)


async def test_the_last_step_is_taken_first_and_a_step_that_fails_stops_no_other(tmp_path, victim):
    found = process(victim.pid)
    async with guarded(LONG_S, log(tmp_path)) as guardian:
        await guardian.note(ContinueProcess(found))
        await guardian.note(DropScratchServer("/tmp/of-somebody-else"))
        victim.signal(SIGSTOP)
        reply = await guardian.take_way_back()
    assert reply.why == "the drill asked for it"
    assert "is not a folder of a drill" in reply.done[0]
    assert "continued" in reply.done[1]


async def test_nothing_is_broken_without_a_guardian(tmp_path, victim):
    async def without_a_guardian():
        async with guarded(LONG_S, log(tmp_path)) as guardian:
            process(guardian.pid).signal(SIGKILL)
            await guardian.note(ContinueProcess(process(victim.pid)))

    with pytest.raises(Unavailable, match="is gone"):
        await without_a_guardian()


def test_a_pid_that_was_used_again_gets_no_signal(victim):
    found = process(victim.pid)
    assert not ProcessRef(victim.pid, found.started + 1).signal(SIGKILL)
    assert victim.running


def test_a_process_that_nobody_has_waited_for_does_not_run():
    dead = subprocess.Popen(["true"])
    found = process(dead.pid)
    while found is not None and found.runs:
        pass
    assert process(dead.pid) is None
    dead.wait()
