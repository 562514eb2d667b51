"""Trace contexts are read as W3C asks, and every process samples the same fires."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from horae.domain.traces.contexts import (
    PACKED_BYTES,
    TraceContext,
    context_of,
    is_sampled,
    least_sampled,
    read,
    span_of,
    stored_context,
    traceparent,
)
from horae.runtime.randomness import id_maker, new_id, new_trace_id

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
NOW = datetime(2026, 11, 15, tzinfo=UTC)
MANY = 20_000


def test_a_context_is_read_written_and_stored():
    context = read(GIVEN)
    assert context == TraceContext(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, True)
    assert context.text() == GIVEN
    assert len(context.pack()) == PACKED_BYTES
    assert stored_context(context.pack()) == context
    assert not read(GIVEN[:-1] + "0").sampled


def test_a_later_version_may_say_more():
    assert read(GIVEN.replace("00-", "01-", 1) + "-more") == read(GIVEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        GIVEN + "-more",
        GIVEN.upper(),
        GIVEN.replace("00-", "ff-", 1),
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        GIVEN + "\n",
        "é" * 55,
    ],
)
def test_what_is_no_context_is_ignored(text):
    assert read(text) is None


def test_attempts_have_spans_of_their_own_that_every_process_computes():
    id_ = new_id(7, NOW)
    assert len({span_of(id_, attempt) for attempt in range(100)}) == 100
    assert traceparent(id_, 2) == context_of(id_, 2).text()
    assert traceparent(id_, 2, sampled=False)[-2:] == "00"
    assert span_of(UUID(int=1), 1), "never zero, which means no span"


@pytest.mark.parametrize("part", [0.01, 0.1, 1.0])
def test_a_part_of_all_fires_is_sampled(part):
    least, make = least_sampled(part), id_maker(NOW)
    sampled = sum(is_sampled(make(number % 4096).int, least) for number in range(MANY))
    assert abs(sampled - part * MANY) < 6 * (part * (1 - part) * MANY) ** 0.5 + 1


def test_what_is_sampled_at_a_small_part_is_sampled_at_a_larger_part():
    few, more = least_sampled(0.05), least_sampled(0.2)
    traces = [new_trace_id() for _ in range(MANY)]
    assert {one for one in traces if is_sampled(one, few)} <= {one for one in traces if is_sampled(one, more)}


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 1.0])
def test_ids_of_a_sampled_request_are_sampled_and_differ(part):
    least = least_sampled(part)
    made = {new_id(9, NOW, least) for _ in range(1000)}
    assert len(made) == 1000
    assert all(is_sampled(id_.int, least) for id_ in made)
