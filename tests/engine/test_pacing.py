"""Calls that wait for a place in a frame: in their order, not beyond their time, and never without a place."""

from collections import Counter
from types import SimpleNamespace
from uuid import UUID

from horae.domain.limits.limits import Key
from horae.engine.quotas.pacing import Pacer
from tests.steps import until

A, B = (Key(UUID(int=1), name) for name in "ab")


class Places:
    """So many places for each key; the next ones come when told."""

    def __init__(self, **places):
        self.left = Counter({Key(UUID(int=1), name): number for name, number in places.items()})
        self.leads = []

    def leave(self, keys):
        missing = next((key for key in keys if not self.left[key]), None)
        if missing is None:
            self.left.subtract(keys)
        return missing

    def record_lead(self, _keys, lead_s):
        self.leads.append(lead_s)

    def next_place_s(self, _key):
        return None


class Scene:
    def __init__(self, **places):
        self.places, self.again, self.gone = Places(**places), [], []
        self.pacer = Pacer(self.places, self.again.append)

    def leave(self, name, *keys, left_s=60.0):
        call = SimpleNamespace(paces=keys)
        self.pacer.leave(call, lambda: left_s, lambda: self.gone.append((name, call.paces)))

    def grant(self, key, number):
        self.places.left[key] += number
        self.pacer.on_grant(key)


async def test_calls_leave_in_their_order_and_no_more_than_there_are_places():
    scene = Scene(a=1)
    for name in range(5):
        scene.leave(name, A)
    assert scene.gone == [(0, ())]
    scene.grant(A, 2)
    assert [name for name, _ in scene.gone] == [0, 1, 2]
    assert scene.again == [A], "and those who wait to be admitted may ask"
    scene.grant(A, 9)
    scene.leave(5, A)
    assert [name for name, _ in scene.gone] == [0, 1, 2, 3, 4, 5]
    assert len(scene.pacer) == 0
    scene.pacer.close()


async def test_a_call_that_waits_for_one_rate_takes_no_place_of_another():
    scene = Scene(a=1)
    scene.leave("both", A, B)
    scene.leave("one", A)
    assert [name for name, _ in scene.gone] == ["one"]
    scene.grant(B, 1)
    assert len(scene.gone) == 1, "now it waits for the other"
    scene.grant(A, 1)
    assert [name for name, _ in scene.gone] == ["one", "both"]
    assert not +scene.places.left
    scene.pacer.close()


async def test_nobody_overtakes_those_who_wait():
    scene = Scene(a=0)
    scene.leave("first", A)
    scene.places.left[A] = 1
    assert not scene.pacer.may_leave(SimpleNamespace(paces=(A,)), 0.5)
    assert scene.places.leads == [0.5]
    scene.pacer.close()


async def test_a_call_whose_time_is_over_goes_without_a_place_and_says_so():
    scene = Scene(a=0)
    scene.leave("late", A, left_s=0.0)
    await until(lambda: bool(scene.gone))
    assert scene.gone == [("late", (A,))]
    scene.pacer.close()


async def test_after_the_end_nothing_leaves():
    scene = Scene(a=0)
    scene.leave("waits", A)
    scene.pacer.close()
    scene.grant(A, 1)
    assert scene.gone == []
