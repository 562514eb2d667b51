"""Judges one measure, minute by minute: when it comes into force, changes its level, and ends.

1. A minute is beyond the line (OVER), clearly within it (CLEAR), or BETWEEN. The distance between the two keeps noise
   at the line from opening and closing a measure.
2. Enough minutes in a row beyond the line raise the level (`LEVELS`).
3. The level falls by one after `CLEAR_MINUTES` clear minutes in a row, and not before `MIN_HOLD` at that level. So a
   paused queue is first limited and then free.
4. A signal with too little to judge is CLEAR: nothing stays in force because nothing happens any more.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from horae.domain.measures.measures import LEVELS, MeasureName, MeasureState

CLEAR_SHARE: Final = 0.8
"""The part of a line below which a signal is clear."""
CLEAR_MINUTES: Final = 3
MIN_HOLD: Final = timedelta(minutes=5)
"""The shortest time at a level before it falls."""
MINUTE: Final = timedelta(minutes=1)


class LinePosition(StrEnum):
    """Where a signal is, compared with the line of its measure."""

    OVER = "OVER"
    BETWEEN = "BETWEEN"
    CLEAR = "CLEAR"


def compare(name: MeasureName, value: float | None, line: float) -> LinePosition:
    """Compare a signal with a line. None: there is too little to judge."""
    if value is None:
        return LinePosition.CLEAR
    if name == MeasureName.RUN_SUCCESS_RATE_10M:  # here less is worse: compare what is missing
        value, line = 1 - value, 1 - line
    if value > line:
        return LinePosition.OVER
    return LinePosition.CLEAR if value <= line * CLEAR_SHARE else LinePosition.BETWEEN


def advance(state: MeasureState, reading: LinePosition, value: float | None, minute: datetime) -> MeasureState:
    """Return the state after one more minute. A minute that was judged before changes nothing."""
    end = minute + MINUTE
    if end <= state.judged_until:
        return state
    over = state.over_minutes + 1 if reading is LinePosition.OVER else 0
    clear = state.clear_minutes + 1 if reading is LinePosition.CLEAR else 0
    level, level_since = state.level, state.level_since
    reached = sum(over >= minutes for minutes, _ in LEVELS[state.name])
    if reached > level:
        level, level_since, clear = reached, end, 0
    elif level and clear >= CLEAR_MINUTES and (level_since is None or end - level_since >= MIN_HOLD):
        level, level_since, clear = level - 1, end, 0
    return replace(
        state,
        level=level,
        level_since=level_since if level else None,
        since=(state.since or end) if level else None,
        over_minutes=over,
        clear_minutes=clear,
        judged_until=end,
        value=0.0 if value is None else value,
    )
