from datetime import UTC, datetime, timedelta

import pytest

from horae.runtime.clock import Clock

START = datetime(2026, 11, 15, 9, tzinfo=UTC)


class Ticks:
    def __init__(self):
        self.at = 1000.0

    def __call__(self):
        return self.at


@pytest.fixture
def ticks():
    return Ticks()


@pytest.fixture
def clock(ticks):
    clock = Clock(ticks)
    clock.set(START, ticks.at)
    return clock


def test_a_clock_never_read_has_no_time():
    with pytest.raises(ConnectionError):
        Clock().now()


def test_time_is_the_reading_carried_on_by_the_ticks(clock, ticks):
    ticks.at += 90
    assert clock.now() == START + timedelta(seconds=90)


def test_a_reading_counts_from_its_arrival_so_we_are_never_ahead(ticks):
    clock = Clock(ticks)
    sent = ticks.at
    ticks.at += 0.5
    clock.set(START, sent)
    assert clock.now() == START


def test_small_steps_are_followed(clock, ticks):
    ticks.at += 10
    clock.set(START + timedelta(seconds=11), ticks.at)
    assert clock.trusted
    assert clock.now() == START + timedelta(seconds=11)


@pytest.mark.parametrize("hours", [8, -1])
def test_a_database_clock_that_jumps_is_not_trusted_until_a_person_says_so(clock, ticks, hours):
    ticks.at += 2
    jump = clock.set(START + timedelta(hours=hours), ticks.at)
    assert abs(jump) > timedelta(minutes=59)
    assert not clock.trusted
    ticks.at += 2
    clock.set(START + timedelta(hours=hours, seconds=2), ticks.at)
    assert not clock.trusted, "the next reading agrees with the jump, and that proves nothing"
    ticks.at += 2
    clock.set(START + timedelta(hours=hours, seconds=4), ticks.at, vouches=1)
    assert clock.trusted
    ticks.at += 2
    clock.set(START, ticks.at, vouches=1)
    assert not clock.trusted, "that was another jump, and nobody has vouched for it"


@pytest.mark.parametrize("hours", [8, -1])
def test_while_a_jump_is_not_trusted_time_goes_on_as_it_was(clock, ticks, hours):
    for beat in (2, 4):
        ticks.at += 2
        clock.set(START + timedelta(hours=hours, seconds=beat), ticks.at)
    assert clock.now() == START + timedelta(seconds=4)
    assert clock.database_time() == START + timedelta(hours=hours, seconds=4)


def test_a_database_clock_that_is_set_right_is_trusted_again(clock, ticks):
    ticks.at += 2
    clock.set(START + timedelta(hours=8), ticks.at)
    ticks.at += 2
    clock.set(START + timedelta(seconds=4.5), ticks.at)
    assert clock.trusted
    assert clock.now() == clock.database_time() == START + timedelta(seconds=4.5)


def test_a_person_may_say_that_the_jump_was_right(clock, ticks):
    ticks.at += 2
    clock.set(START + timedelta(hours=8), ticks.at)
    clock.set(START + timedelta(hours=8), ticks.at, vouches=1)
    assert clock.trusted
    assert clock.now() == START + timedelta(hours=8)


def test_a_slow_round_trip_is_no_jump(clock, ticks):
    sent = ticks.at + 10
    ticks.at = sent + 5
    assert clock.set(START + timedelta(seconds=12), sent) == timedelta()
    assert clock.trusted


def test_an_offset_moves_time_and_is_no_jump(clock, ticks):
    ticks.at += 1
    clock.set(START + timedelta(seconds=1), ticks.at, timedelta(days=3))
    assert clock.now() == START + timedelta(days=3, seconds=1)
    assert clock.trusted


def test_a_process_stopped_while_its_reading_was_on_the_way_sees_no_jump_at_the_next(clock, ticks):
    sent = ticks.at + 2
    ticks.at = sent + 30  # SIGSTOP, with the answer in the socket's buffer
    clock.set(START + timedelta(seconds=2), sent)
    ticks.at += 2
    assert clock.set(START + timedelta(seconds=34), ticks.at) == timedelta()
    assert clock.trusted
    assert clock.now() == START + timedelta(seconds=34)


def ahead(ticks, hours):
    return START + timedelta(hours=hours, seconds=ticks.at - 1000.0)


def test_who_starts_while_others_doubt_the_clock_goes_by_their_word_until_it_is_set_right(ticks):
    late = Clock(ticks)
    late.set(ahead(ticks, 8), ticks.at, doubt=timedelta(hours=8))
    assert not late.trusted
    assert late.now() == START
    ticks.at += 2
    late.set(ahead(ticks, 8), ticks.at, doubt=timedelta(hours=8))
    assert not late.trusted
    ticks.at += 2
    late.set(ahead(ticks, 0), ticks.at, doubt=timedelta(hours=8))
    assert late.trusted, "it is as it was known to be"
    ticks.at += 2
    late.set(ahead(ticks, 0), ticks.at, doubt=timedelta(hours=8))
    assert late.trusted, "the word is old, and we have seen why"
    assert late.now() == ahead(ticks, 0)


def test_a_doubt_that_is_taken_back_is_no_jump(clock, ticks):
    ticks.at += 2
    clock.set(ahead(ticks, 0), ticks.at, doubt=timedelta(hours=8))
    assert not clock.trusted, "others know of a jump that we have not seen"
    ticks.at += 2
    clock.set(ahead(ticks, 0), ticks.at)
    assert clock.trusted
    assert clock.now() == ahead(ticks, 0)


def test_a_person_who_vouches_ends_every_doubt(ticks):
    late = Clock(ticks)
    late.set(ahead(ticks, 8), ticks.at, doubt=timedelta(hours=8))
    ticks.at += 2
    late.set(ahead(ticks, 8), ticks.at, vouches=1)
    assert late.trusted
    assert late.now() == ahead(ticks, 8)
