"""Log lines of attempts: their form, their bounds, and the marks where lines are missing.

The lines of an attempt are numbered from 0 on. What is dropped, by the worker or by Horae, leaves a gap in the numbers,
and the reader gets a mark in its place that says how many lines are missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid

MAX_ATTEMPT_LOG_BYTES: Final = 1024 * 1024
"""Bytes of lines that are kept of one attempt in one cell; the oldest are dropped."""
MAX_BATCH_BYTES: Final = 128 * 1024
"""Bytes of the lines in one batch of an attempt."""
MAX_BATCH_LINES: Final = 1000
LONGEST_LINE: Final = 8000
"""Characters of one line."""
LONGEST_LEVEL: Final = 20
MAX_LINE_NUMBER: Final = 2**53
"""Numbers beyond this are not exact in JSON."""
DEFAULT_LOG_BYTES_A_DAY: Final = 1024**3
"""Bytes that a tenant may log in a day, unless its allowance says otherwise."""
_encode = msgspec.json.Encoder().encode


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line, as its attempt wrote it."""

    at: datetime
    text: str
    level: str = "info"


class LogBatch(msgspec.Struct, frozen=True, eq=False):
    """Some lines of an attempt. `first` is the number of the first one; None: it follows the last stored one."""

    instance_id: UUID
    attempt: int
    token: str
    lines: Sequence[LogLine]
    first: int | None = None


class NumberedLine(NamedTuple):
    """A line of an attempt, or a mark: `dropped` lines before this number are missing."""

    attempt: int
    number: int
    line: LogLine | None
    dropped: int = 0


class LogMark(NamedTuple):
    """Where a reader is: it has read all lines of an attempt before a number, and all earlier attempts."""

    attempt: int = 0
    number: int = 0


BEGIN: Final = LogMark()


def check_lines(lines: Sequence[LogLine], first: int | None) -> int:
    """Refuse lines that are too many, too long, or that a row cannot hold. Returns their bytes as JSON."""
    if not 1 <= len(lines) <= MAX_BATCH_LINES:
        raise Invalid(f"a batch has 1 to {MAX_BATCH_LINES} lines, not {len(lines)}")
    if first is not None and not 0 <= first <= MAX_LINE_NUMBER:
        raise Invalid("the number of a line is 0 or more")
    for one in lines:
        if len(one.text) > LONGEST_LINE:
            raise Invalid(f"a line has at most {LONGEST_LINE} characters, not {len(one.text)}")
        if "\0" in one.text:
            raise Invalid("a line holds no NUL")
        if not 1 <= len(one.level) <= LONGEST_LEVEL or not one.level.isprintable():
            raise Invalid(f"a level is 1 to {LONGEST_LEVEL} printable characters")
    size = len(_encode(lines))
    if size > MAX_BATCH_BYTES:
        raise Invalid(f"the lines of a batch have at most {MAX_BATCH_BYTES} bytes, not {size}")
    return size


def lines_after(mark: LogMark, batches: Iterable[tuple[int, int, Sequence[LogLine]]]) -> Iterator[NumberedLine]:
    """Yield the lines after a mark, with a mark for each gap.

    A batch is its attempt, the number of its first line, and its lines; batches come in the order of these numbers.
    """
    attempt, expected = mark
    for of_attempt, first, lines in batches:
        if of_attempt != attempt:
            attempt, expected = of_attempt, 0
        if first > expected:
            yield NumberedLine(attempt, first, None, first - expected)
        for number, line in enumerate(lines, first):
            if number >= expected:
                yield NumberedLine(attempt, number, line)
        expected = max(expected, first + len(lines))
