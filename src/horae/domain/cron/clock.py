"""The times of day of an expression, when they are few enough to list."""

from horae.domain.cron.engine import CronExpression

MOST = 6
"""Times that a description lists."""


def clock_times(cron: CronExpression) -> tuple[str, ...]:
    """Return times such as 09:00 and 17:30; nothing when there are too many, or when every hour matches."""
    if cron.fields.hour.mask == (1 << 24) - 1 or len(cron.minutes) * len(cron.seconds) > MOST:
        return ()
    with_seconds = cron.seconds != (0,)
    return tuple(
        f"{minute // 3600:02}:{minute // 60 % 60:02}" + (f":{second:02}" if with_seconds else "")
        for minute in cron.minutes
        for second in cron.seconds
    )
