"""What a handler may say beside success: raise one of these, or return it."""


class Outcome(Exception):
    """Something else than success, said on purpose."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        super().__init__(reason)


class Declined(Outcome):
    """There was nothing to do, and nothing was done: not due any more, no longer pending. No key was burnt.

    >>> from horae_client import Declined
    >>> Declined("the article was withdrawn").reason
    'the article was withdrawn'
    """


class Unrecoverable(Outcome):
    """It failed, and trying again cannot help: it goes to the dead letters at once.

    >>> from horae_client import Unrecoverable
    >>> Unrecoverable("no such article").reason
    'no such article'
    """


class Retry(Outcome):
    """It failed; try again by the job's policy, and not before `after` seconds.

    >>> from horae_client import Retry
    >>> Retry("mail server down", after=60).after
    60
    """

    def __init__(self, reason: str = "", *, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Snooze(Outcome):
    """Not yet: come again in so many seconds. It costs neither an attempt nor a failure.

    >>> from horae_client import Snooze
    >>> Snooze(30, "the file is not there yet").seconds
    30
    """

    def __init__(self, seconds: float, reason: str = "") -> None:
        super().__init__(reason)
        self.seconds = seconds
