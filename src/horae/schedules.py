"""Schedules next to the code they run: `@job(cron="0 2 * * *")` above a function, `horae apply -m` its module.

The decorator only leaves a note; the function stays as it is.

>>> @job(cron="0 2 * * *", timezone="Asia/Shanghai", labels={"team": "finance"})
... def nightly_report(): ...
>>> getattr(nightly_report, WORDS)
[{'name': 'nightly_report', 'cron': '0 2 * * *', 'timezone': 'Asia/Shanghai', 'labels': {'team': 'finance'}}]
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
WORDS: Final = "__horae_jobs__"
"""Where the note is left: a list of mappings with the words of a job and its `name`."""


def job(name: str | None = None, **words: Any) -> Callable[[Decorated], Decorated]:
    """Declare a job beside a function: the words are those of `jobs.yaml`, the name is the function's own if not given.

    Without a `target` the job waits in the queue of its name, for a worker that calls the function.
    """

    def note(function: Decorated) -> Decorated:
        said = {"name": name or function.__name__, **words}
        setattr(function, WORDS, [*getattr(function, WORDS, []), said])
        return function

    return note
