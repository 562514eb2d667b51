"""Outcomes of a handler other than success: raise one of these, or return it."""

from datetime import timedelta
from math import isnan
from typing import Final

MAX_PAUSE_S: Final = 366 * 86400


class Outcome(Exception):
    """An outcome other than success, on purpose. The reason is a text or the exception behind it."""

    def __init__(self, reason: object = "") -> None:
        self.reason = text_of(reason)
        super().__init__(self.reason)


class Declined(Outcome):
    """There was nothing to do, and nothing was done, for example because the task is no longer pending.

    >>> from horae_client import Declined
    >>> Declined("the article was withdrawn").reason
    'the article was withdrawn'
    """


class Unrecoverable(Outcome):
    """It failed, and a retry cannot help: it becomes a dead letter at once.

    >>> from horae_client import Unrecoverable
    >>> Unrecoverable("no such article").reason
    'no such article'
    """


class Retry(Outcome):
    """It failed; retry by the job's policy, but not before `after` seconds.

    >>> from horae_client import Retry
    >>> Retry("mail server down", after=60).after
    60
    """

    def __init__(self, reason: object = "", *, after: float | timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else pause_of(after)


class Snooze(Outcome):
    """Not yet: try again in `seconds` seconds. It counts neither as an attempt nor as a failure.

    >>> from horae_client import Snooze
    >>> Snooze(30, "the file is not there yet").seconds
    30
    """

    def __init__(self, seconds: float | timedelta, reason: object = "") -> None:
        super().__init__(reason)
        self.seconds = pause_of(seconds)


def text_of(what: object) -> str:
    r"""The text of any object, in a form that can be sent. It never raises.

    >>> from horae_client.outcomes import text_of
    >>> text_of(ValueError("no such article")), text_of(None), text_of("caf\udce9")
    ('no such article', '', 'caf?')
    """
    try:
        text = "" if what is None else str(what)
    except Exception:
        text = f"{type(what).__name__}, which has no text"
    return text.encode("utf-8", "replace").decode()


def pause_of(seconds: float | timedelta) -> float:
    """A pause in seconds, between zero and a year, as the server accepts it.

    >>> from datetime import timedelta
    >>> from horae_client.outcomes import pause_of
    >>> pause_of(timedelta(minutes=1)), pause_of(-5), pause_of(1e9)
    (60.0, 0, 31622400)
    """
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    if not isinstance(seconds, int | float) or isnan(seconds):
        raise ValueError(f"a pause is a number of seconds, or a timedelta, not {seconds!r}")
    return min(max(seconds, 0), MAX_PAUSE_S)
