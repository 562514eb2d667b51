"""What a target may answer besides its status: a result and log lines, in a body of a type of its own.

A target opts in with the content type. Any other body is the target's own affair, as before.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.foreign import Unreadable, read_json
from horae.domain.instances.logs import LogLine, check_lines
from horae.domain.instances.results import check_result

REPORT_TYPE: Final = "application/vnd.horae.report+json"
"""The content type of such a body."""
SOME_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Stands for the time of a line while its size is checked."""


class AnsweredLine(msgspec.Struct, frozen=True):
    """A line in an answer. Without a time it has the time of the answer."""

    text: str
    level: str = "info"
    at: datetime | None = None


class TargetReport(msgspec.Struct, frozen=True):
    """The body of an answer: a result and log lines, both optional."""

    result: Any = None
    lines: list[AnsweredLine] = []

    def lines_at(self, now: datetime) -> Sequence[LogLine]:
        """Return the lines, with a time each."""
        return [LogLine(_aware(one.at, now), one.text, one.level) for one in self.lines]


def is_report(headers: Mapping[str, str]) -> bool:
    """Whether an answer says that its body is a report. Header names are in lower case."""
    return "content-type" in headers and headers["content-type"].partition(";")[0].strip().lower() == REPORT_TYPE


def read_report(body: bytes, *, is_cut: bool) -> TargetReport:
    """Return the report of an answer. Raises Unreadable where it cannot be stored as a whole: nothing is cut."""
    if is_cut:
        raise Unreadable("it is larger than 64 KiB")
    report = read_json(body, TargetReport)
    try:
        check_result(report.result)
        if report.lines:
            check_lines([LogLine(SOME_TIME, one.text, one.level) for one in report.lines], 0)
    except Invalid as error:
        raise Unreadable(str(error)) from error
    return report


def _aware(at: datetime | None, now: datetime) -> datetime:
    return now if at is None or at.tzinfo is None else at
