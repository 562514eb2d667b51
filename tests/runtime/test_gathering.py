"""Items of concurrent callers are written together, and none waits for a write that is stuck."""

import asyncio

import pytest

from horae.runtime import gathering
from horae.runtime.gathering import MOST_BESIDE, MOST_TOGETHER, Groups

KEY = "same"


class Writer:
    """Remembers what was written together. A write waits for `gate`, and names its items in its answers."""

    def __init__(self):
        self.groups = Groups()
        self.writes = []
        self.gate = asyncio.Event()
        self.gate.set()

    def add(self, item, key=KEY):
        return asyncio.ensure_future(self.groups.find(key, lambda: self.write).add(item))

    async def write(self, items):
        self.writes.append(list(items))
        await self.gate.wait()
        return [ValueError(item) if item == "bad" else f"wrote {item}" for item in items]


@pytest.fixture
def patient(monkeypatch):
    """No timer ends within the test."""
    monkeypatch.setattr(gathering, "GATHER_S", 1000)
    monkeypatch.setattr(gathering, "BESIDE_S", 1000)


async def test_the_first_is_written_at_once_and_those_that_come_meanwhile_together(patient):
    writer = Writer()
    writer.gate.clear()
    first = writer.add("a")
    await asyncio.sleep(0)
    others = [writer.add(item) for item in "bcd"]
    await asyncio.sleep(0)
    assert writer.writes == [["a"]]
    writer.gate.set()
    assert await asyncio.gather(first, *others) == ["wrote a", "wrote b", "wrote c", "wrote d"]
    assert writer.writes == [["a"], ["b", "c", "d"]]


async def test_each_item_has_its_own_error(patient):
    writer = Writer()
    writer.gate.clear()
    added = [writer.add(item) for item in ("a", "bad", "c")]
    await asyncio.sleep(0)
    writer.gate.set()
    found = await asyncio.gather(*added, return_exceptions=True)
    assert [str(one) for one in found] == ["wrote a", "bad", "wrote c"]
    assert isinstance(found[1], ValueError)


async def test_an_error_of_the_write_is_the_error_of_all_its_items(patient):
    async def broken(items):
        raise ConnectionError("gone")

    groups = Groups()
    with pytest.raises(ConnectionError):
        await groups.find(KEY, lambda: broken).add("a")
    assert not len(groups)


async def test_callers_in_turns_are_written_as_many_together_as_there_are():
    writer, rounds = Writer(), 50

    async def caller(name):
        for number in range(rounds):
            await writer.add(f"{name}{number}")

    await asyncio.gather(*(caller(name) for name in "abcdefgh"))
    assert sum(map(len, writer.writes)) == 8 * rounds
    assert len(writer.writes) <= 2 * rounds  # the first round is 1 and 7; a busy machine may split some others
    assert max(map(len, writer.writes)) >= 7


async def test_a_write_that_is_stuck_keeps_the_next_from_nothing(monkeypatch):
    monkeypatch.setattr(gathering, "BESIDE_S", 0.001)
    writer = Writer()
    writer.gate.clear()
    stuck = writer.add("stuck")
    while not writer.writes:
        await asyncio.sleep(0)
    writer.gate, gate = asyncio.Event(), writer.gate
    writer.gate.set()
    assert await writer.add("next") == "wrote next"
    assert not stuck.done()
    gate.set()
    assert await stuck == "wrote stuck"


async def test_no_more_writes_than_allowed_are_under_way_and_none_is_too_large(monkeypatch):
    monkeypatch.setattr(gathering, "BESIDE_S", 0.0)
    writer = Writer()
    writer.gate.clear()
    added = [writer.add(number) for number in range(3 * MOST_TOGETHER)]
    for _ in range(100):
        added.append(writer.add("more"))
        await asyncio.sleep(0.001)
    assert len(writer.writes) == MOST_BESIDE
    writer.gate.set()
    assert len(await asyncio.gather(*added)) == 3 * MOST_TOGETHER + 100
    assert max(map(len, writer.writes)) <= MOST_TOGETHER


async def test_a_caller_that_has_gone_takes_nothing_from_the_others(patient):
    writer = Writer()
    writer.gate.clear()
    first, gone, stays = (writer.add(item) for item in "abc")
    await asyncio.sleep(0)
    gone.cancel()
    writer.gate.set()
    assert await asyncio.gather(first, stays) == ["wrote a", "wrote c"]
    assert writer.writes == [["a"], ["b", "c"]]  # it was asked for, and nobody knows that it is not wanted


async def test_other_keys_are_written_apart_and_what_is_over_is_forgotten(monkeypatch):
    monkeypatch.setattr(gathering, "GATHER_S", 0.0)
    writer = Writer()
    assert await asyncio.gather(writer.add("a", "one"), writer.add("b", "other")) == ["wrote a", "wrote b"]
    assert writer.writes == [["a"], ["b"]]
    while len(writer.groups):
        await asyncio.sleep(0)
