"""Trace contexts by the W3C recommendation, and which traces are sampled.

The trace of a fire is its instance: the trace id is the instance's id, and the span ids of its attempts follow from it.
So every process computes the same context for an attempt, and no row has to store one.
"""

import re
from typing import Final, NamedTuple
from uuid import UUID

RANDOM_BITS: Final = 56
"""The last bits of a trace id. They are random, and decide whether the trace is sampled."""
RANDOM: Final = (1 << RANDOM_BITS) - 1
MIN_SAMPLED: Final = 1 << 40
"""How many of the 2**56 random values are always sampled: an id that must be sampled is made of one of them."""
LOW_64: Final = (1 << 64) - 1
NOT_ZERO: Final = 1 << 63
"""A bit that every span id of ours has, because a span id of zero means no span."""
PACKED_BYTES: Final = 25
FORMAT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


class TraceContext(NamedTuple):
    """One span of a trace, and whether the trace is sampled."""

    trace_id: int
    span_id: int
    sampled: bool = True

    def text(self) -> str:
        """Return the value of the header `traceparent`."""
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{self.sampled:02x}"

    def pack(self) -> bytes:
        """Return the 25 bytes that a row stores."""
        return self.trace_id.to_bytes(16, "big") + self.span_id.to_bytes(8, "big") + bytes([self.sampled])


def stored_context(stored: bytes) -> TraceContext:
    """Return the context that a row stores."""
    return TraceContext(int.from_bytes(stored[:16], "big"), int.from_bytes(stored[16:24], "big"), stored[24] == 1)


def read(text: str) -> TraceContext | None:
    """Return the context of a `traceparent`; None if the text is not valid.

    A version after 00 may have more fields. They are ignored, as the recommendation asks.
    """
    found = FORMAT.fullmatch(text)
    if found is None or found[1] == "ff" or (found[1] == "00" and found[5] is not None):
        return None
    trace_id, span_id = int(found[2], 16), int(found[3], 16)
    return TraceContext(trace_id, span_id, bool(int(found[4], 16) & 1)) if trace_id and span_id else None


def span_of(instance_id: UUID, attempt: int = 0) -> int:
    """Return the span id of an attempt; without an attempt, that of the fire."""
    return (instance_id.int & LOW_64 | NOT_ZERO) ^ attempt


def context_of(instance_id: UUID, attempt: int = 0, *, sampled: bool = True) -> TraceContext:
    """Return the context of an attempt; without an attempt, that of the fire."""
    return TraceContext(instance_id.int, span_of(instance_id, attempt), sampled)


def traceparent(instance_id: UUID, attempt: int, *, sampled: bool = True) -> str:
    """Return the `traceparent` that an attempt carries."""
    return f"00-{instance_id.int:032x}-{span_of(instance_id, attempt):016x}-{'01' if sampled else '00'}"


def least_sampled(part: float) -> int:
    """Return the least random value that is sampled, for this part of all traces.

    It is the rule of OpenTelemetry's consistent sampling: a trace that is sampled at a small part is sampled at every
    larger part, too.
    """
    return min(round((1 - part) * (RANDOM + 1)), RANDOM + 1 - MIN_SAMPLED)


def is_sampled(trace_id: int, least: int) -> bool:
    """Whether a trace is sampled, by its random bits."""
    return trace_id & RANDOM >= least


def sampled_entropy(entropy: int, least: int) -> int:
    """Return random bits for an id that is sampled: its last 56 bits are at least `least`."""
    return entropy & ~RANDOM | least + (entropy & RANDOM) % (RANDOM + 1 - least)
