from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from horae.domain.limits import FRESH, Ask, Bucket, Holder, Limit, decide, portion, refill, shares

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
ME = UUID(int=1)
amounts = st.floats(0, 1000)
counts = st.integers(0, 50)


def a_holder(number, held=0, wanted=0, asked=0.0, served=None, seen=NOW):
    return Holder(UUID(int=number), held, wanted, asked, served, seen)


@given(amounts, amounts, st.lists(amounts, max_size=8))
def test_equal_portions_never_exceed_what_there_is_nor_what_was_asked(available, mine, others):
    everyone = [mine, *others]
    parts = [portion(available, ask, everyone[:n] + everyone[n + 1 :]) for n, ask in enumerate(everyone)]
    assert sum(parts) <= available * (1 + 1e-9) + 1e-9
    assert all(0 <= part <= ask for part, ask in zip(parts, everyone, strict=True))
    assert min(mine, available / len(everyone)) <= parts[0] + 1e-9


@given(st.integers(0, 60), st.lists(counts, max_size=8))
def test_shares_use_the_permits_up_and_nobody_envies_anyone(permits, wanted):
    given_ = shares(permits, wanted)
    assert sum(given_) == min(permits, sum(wanted))
    for mine, want in zip(given_, wanted, strict=True):
        assert mine <= want
        assert mine == want or mine >= max(given_) - 1, "who wants more has as much as anyone, but for one"


@given(
    st.floats(0.1, 500),
    st.floats(0.1, 500),
    st.lists(st.tuples(st.floats(-0.5, 2), amounts, st.integers(1, 3)), max_size=30),
)
def test_over_any_window_no_more_is_granted_than_rate_and_burst_allow(rate, burst, asks):
    limit = Limit(rate, burst)
    bucket, now, grants = Bucket(limit.depth, NOW), NOW, []
    for passed, tokens, rivals in asks:
        now += timedelta(seconds=passed)  # a clock that is behind another's goes backwards
        others = [a_holder(n, asked=tokens, seen=now) for n in range(2, 2 + rivals)]
        bucket, grant = decide(limit, bucket, a_holder(1), Ask(tokens), others, now)
        assert bucket.tokens >= -1e-6
        grants.append((bucket.refilled_at, grant.tokens))
    for n, (begin, _) in enumerate(grants):
        total = 0.0
        for end, tokens in grants[n:]:
            total += tokens
            assert total <= rate * (end - begin).total_seconds() + limit.depth + 1e-6


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
        _, grant = decide(limit, Bucket(0, now), a_holder(n, served=served[n]), Ask(0, 0, keep, wanted[n]), others, now)
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
            _, grant = decide(limit, Bucket(0, now), a_holder(n, served=served[n]), Ask(0, 0, 0, 1), others, now)
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
    stale = waiting._replace(seen_at=NOW - FRESH - timedelta(milliseconds=1))
    assert decide(limit, Bucket(0, NOW), a_holder(1, served=NOW), ask, [stale], NOW)[1].share == 4


def test_tokens_come_back_into_the_bucket_but_never_above_its_rim():
    limit = Limit(rate=1, burst=5)
    bucket, _ = decide(limit, Bucket(4, NOW), a_holder(1), Ask(back=3), [], NOW)
    assert bucket.tokens == 5
    assert refill(limit, Bucket(0, NOW), NOW - timedelta(seconds=9)) == Bucket(0, NOW)
