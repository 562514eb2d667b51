"""A duty without a reason asks nothing, and none is forgotten for ever."""

import pytest

from horae.runtime.prompts import PromptedDuty

SAFETY_S = 300.0


class Work:
    def __init__(self):
        self.rounds, self.left, self.error = 0, 0, None
        self.during = lambda: None

    async def once(self):
        self.rounds += 1
        self.during()
        if self.error is not None:
            raise self.error
        self.left -= self.left > 0
        return self.left


class Time:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def work():
    return Work()


@pytest.fixture
async def duty(work, time):
    duty = PromptedDuty(work, SAFETY_S, time)
    await duty.once()
    work.rounds = 0
    return duty


async def test_a_duty_runs_at_first_and_then_only_when_prompted(work, time):
    duty = PromptedDuty(work, SAFETY_S, time)
    for _ in range(5):
        await duty.once()
    assert work.rounds == 1
    duty.prompt()
    duty.prompt()
    for _ in range(5):
        await duty.once()
    assert work.rounds == 2, "many prompts are one"


async def test_a_duty_that_nobody_prompts_runs_after_the_safety_period(duty, work, time):
    time.now = SAFETY_S - 1
    await duty.once()
    assert work.rounds == 0
    time.now = SAFETY_S
    await duty.once()
    await duty.once()
    assert work.rounds == 1


async def test_a_duty_with_more_to_do_goes_on(duty, work):
    work.left = 3
    duty.prompt()
    for _ in range(5):
        await duty.once()
    assert work.rounds == 3


async def test_a_round_that_failed_is_tried_again(duty, work):
    work.error = ConnectionError()
    duty.prompt()
    for _ in range(3):
        with pytest.raises(ConnectionError):
            await duty.once()
    work.error = None
    await duty.once()
    await duty.once()
    assert work.rounds == 4


async def test_a_prompt_during_a_round_is_kept(duty, work):
    work.during = duty.prompt
    duty.prompt()
    await duty.once()
    work.during = lambda: None
    await duty.once()
    assert work.rounds == 2
