from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horae.domain.limits.frames import frame_of
from horae.domain.limits.limits import NODE_ASK_REMEMBERED, Ask, Bucket, Limit, LimitHolder, decide, shares

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
ME = UUID(int=1)
counts = st.integers(0, 50)


def a_holder(number, held=0, wanted=0, asked=0.0, served=None, seen=NOW):
    return LimitHolder(UUID(int=number), held, wanted, asked, served, seen)


@given(st.integers(0, 60), st.lists(counts, max_size=8))
def test_shares_use_the_permits_up_and_nobody_envies_anyone(permits, wanted):
    given_ = shares(permits, wanted)
    assert sum(given_) == min(permits, sum(wanted))
    for mine, want in zip(given_, wanted, strict=True):
        assert mine <= want
        assert mine == want or mine >= max(given_) - 1, "who wants more has as much as anyone, but for one"


class Nodes:
    """Three nodes that ask for calls and make them within their frames."""

    def __init__(self, limit):
        self.limit, self.bucket, self.now = limit, Bucket.full(limit, NOW), NOW
        self.had = {n: {} for n in (1, 2, 3)}
        self.asked = dict.fromkeys(self.had, (0.0, NOW))

    def ask(self, n, need, backlog, ahead):
        """A round of one node."""
        back = {frame: calls for frame, calls in self.had[n].items() if calls and frame < frame_of(self.now)}
        self.had[n] = {frame: calls for frame, calls in self.had[n].items() if frame not in back}
        others = [a_holder(o, asked=asked, seen=seen) for o, (asked, seen) in self.asked.items() if o != n]
        ask = Ask(need, backlog, back, dict(self.had[n]), ahead)
        self.bucket, grant = decide(self.limit, self.bucket, a_holder(n), ask, others, self.now)
        self.asked[n] = need + backlog, self.now
        for frame, calls in grant.calls.items():
            assert calls > 0
            self.had[n][frame] = self.had[n].get(frame, 0) + calls

    def make(self, n, most):
        """Make calls in the present frame; returns how many."""
        frame = frame_of(self.now)
        made = min(most, self.had[n].get(frame, 0))
        self.had[n][frame] = self.had[n].get(frame, 0) - made
        return made


rounds = st.tuples(
    st.floats(0, 1), st.sampled_from((1, 2, 3)), st.integers(0, 40), st.integers(0, 200), st.integers(1, 12), counts
)


@given(st.floats(0.1, 300), st.none() | st.floats(0.1, 500), st.lists(rounds, max_size=40))
@example(
    66.0,
    66.0,
    [
        (0.8, 3, 36, 36, 5, 38),
        (1.0, 3, 21, 200, 1, 2),
        (0.8, 3, 36, 36, 5, 38),
        (1.0, 1, 37, 199, 6, 47),
        (0.06, 3, 34, 138, 11, 37),
    ],
)
def test_in_any_window_no_more_calls_can_be_made_than_rate_and_burst_allow(rate, burst, asks):
    limit = Limit(rate, burst)
    nodes, made = Nodes(limit), []
    for passed, n, need, backlog, ahead, most in asks:
        nodes.now += timedelta(seconds=passed)
        nodes.ask(n, need, backlog, ahead)
        made += [(nodes.now, nodes.make(one, most)) for one in nodes.had]
    for n, (begin, _) in enumerate(made):
        total = 0
        for end, calls in made[n:]:
            total += calls
            assert total <= rate * (end - begin).total_seconds() + limit.most_at_once + 1e-6


@pytest.mark.parametrize("rate", [0.5, 3, 7, 40, 1000])
def test_nodes_that_always_wait_use_all_of_a_rate_and_share_it(rate):
    nodes, made = Nodes(Limit(rate)), dict.fromkeys((1, 2, 3), 0)
    seconds = 30 + 60 / rate
    for step in range(int(seconds * 10)):
        nodes.now = NOW + timedelta(milliseconds=100 * step)
        for n in made:
            nodes.ask(n, 1, 1000, 6)
        for n in made:
            made[n] += nodes.make(n, 1000)
    assert sum(made.values()) >= 0.98 * rate * seconds - 1
    assert max(made.values()) <= 1.1 * min(made.values()) + 1


def test_what_nobody_asks_for_is_there_for_the_call_that_comes_next():
    nodes = Nodes(Limit(rate=800))
    nodes.ask(1, 1, 0, 6)
    assert all(calls >= 40 for calls in nodes.had[1].values())
    nodes.ask(2, 1, 0, 6)
    assert all(calls >= 10 for calls in nodes.had[2].values()), "and for another node's, too"


def test_calls_that_are_given_back_are_anothers():
    limit = Limit(rate=80)
    bucket, grant = decide(limit, Bucket.full(limit, NOW), a_holder(1), Ask(backlog=100, ahead=4), [], NOW)
    assert [*grant.calls.values()] == [11, 10, 10, 10]
    assert decide(limit, bucket, a_holder(2), Ask(backlog=100, ahead=4), [], NOW)[1].calls == {}
    bucket, _ = decide(limit, bucket, a_holder(1), Ask(back=grant.calls), [], NOW)
    assert decide(limit, bucket, a_holder(2), Ask(backlog=100, ahead=4), [], NOW)[1].calls == grant.calls


def test_a_burst_that_was_asked_for_is_there_after_a_rest():
    limit = Limit(rate=8, burst=50)
    _, grant = decide(limit, Bucket.full(limit, NOW), a_holder(1), Ask(backlog=100, ahead=2), [], NOW)
    assert [*grant.calls.values()] == [50, 1]


def test_a_bucket_that_lies_ahead_of_a_clock_that_was_set_back_is_begun_anew():
    limit = Limit(rate=8)
    bucket = Bucket(0.0, NOW + timedelta(hours=1), (1.0,))
    after, grant = decide(limit, bucket, a_holder(1), Ask(backlog=9, ahead=3), [], NOW)
    assert after.refilled_at <= NOW
    assert sum(grant.calls.values()) == 2


def test_nodes_of_the_release_before_do_not_find_what_is_granted():
    limit = Limit(rate=80)
    bucket, grant = decide(limit, Bucket.full(limit, NOW), a_holder(1), Ask(backlog=100, ahead=4), [], NOW)
    assert bucket.tokens == limit.inflow.depth - sum(grant.calls.values())


def test_of_two_limits_the_least_of_each_kind_counts():
    assert Limit(rate=10, burst=50).least(Limit(rate=40)) == Limit(rate=10, burst=10)
    assert Limit(concurrency=8).least(Limit(rate=3, concurrency=2)) == Limit(rate=3, burst=0.75, concurrency=2)
    assert Limit(rate=5).least(Limit(rate=5)) == Limit(rate=5)


@given(st.integers(1, 12), st.lists(st.tuples(counts, counts), min_size=1, max_size=6), st.data())
def test_what_all_hold_together_never_exceeds_the_cap(cap, begin, data):
    limit, held, wanted, served = Limit(concurrency=cap), {}, {}, {}
    for n, (_, want) in enumerate(begin, 1):
        held[n], wanted[n], served[n] = 0, want, None
    for step in range(20):
        n = data.draw(st.sampled_from(sorted(held)))
        keep = data.draw(st.integers(0, held[n]))
        wanted[n] = max(keep, data.draw(counts))
        now = NOW + timedelta(milliseconds=step)
        others = [a_holder(o, held[o], wanted[o], served=served[o], seen=now) for o in held if o != n]
        _, grant = decide(
            limit, Bucket(0, now), a_holder(n, served=served[n]), Ask(keep=keep, wanted=wanted[n]), others, now
        )
        assert grant.held >= keep
        if grant.held > keep:
            served[n] = now
        held[n] = grant.held
        assert sum(held.values()) <= cap


def test_one_permit_goes_round_among_all_who_wait():
    limit, served, order = Limit(concurrency=1), dict.fromkeys((1, 2, 3)), []
    for turn in range(9):
        now = NOW + timedelta(seconds=turn)
        for n in served:
            others = [a_holder(o, wanted=1, served=served[o], seen=now) for o in served if o != n]
            _, grant = decide(limit, Bucket(0, now), a_holder(n, served=served[n]), Ask(wanted=1), others, now)
            if grant.held:
                served[n] = now
                order.append(n)
                break
    assert order == [1, 2, 3] * 3


def test_a_holder_comes_down_to_its_share_only_while_someone_fresh_waits():
    limit = Limit(concurrency=4)
    waiting = a_holder(2, held=0, wanted=4)
    ask = Ask(keep=4, wanted=4)
    assert decide(limit, Bucket(0, NOW), a_holder(1, served=NOW), ask, [waiting], NOW)[1].share == 2
    stale = waiting._replace(seen_at=NOW - NODE_ASK_REMEMBERED - timedelta(milliseconds=1))
    assert decide(limit, Bucket(0, NOW), a_holder(1, served=NOW), ask, [stale], NOW)[1].share == 4
