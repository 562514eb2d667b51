"""Declares jobs next to the functions they run: `@job(cron="0 2 * * *")` above a function.

`horae apply -m MODULE` creates the jobs. The decorator only adds an attribute; it does not change the function.

>>> @job(cron="0 2 * * *", timezone="Asia/Shanghai", labels={"team": "finance"})
... def nightly_report(): ...
>>> getattr(nightly_report, WORDS)
[{'name': 'nightly_report', 'cron': '0 2 * * *', 'timezone': 'Asia/Shanghai', 'labels': {'team': 'finance'}}]
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
WORDS: Final = "__horae_jobs__"
"""The name of the attribute that holds the declared jobs: a list of mappings, each with the job's fields and `name`."""


def job(name: str | None = None, **words: Any) -> Callable[[Decorated], Decorated]:
    """Declare a job for the decorated function.

    The keyword arguments are the fields of a job in `jobs.yaml`. The name defaults to the name of the function. Without
    a `target` the job waits in the queue that has its name, for a worker that calls the function.
    """

    def note(function: Decorated) -> Decorated:
        said = {"name": name or function.__name__, **words}
        setattr(function, WORDS, [*getattr(function, WORDS, []), said])
        return function

    return note
