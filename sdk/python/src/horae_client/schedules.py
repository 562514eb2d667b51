"""Declares jobs next to the functions they run: `@job(cron="0 2 * * *")` above a function.

`horae apply -m MODULE` creates the jobs. The decorator only adds an attribute; it does not change the function.

>>> from horae_client.schedules import jobs_in, job
>>> @job(cron="0 2 * * *", timezone="Asia/Shanghai", labels={"team": "finance"})
... def nightly_report(): ...
>>> jobs_in({"nightly_report": nightly_report})
{'nightly_report': {'cron': '0 2 * * *', 'timezone': 'Asia/Shanghai', 'labels': {'team': 'finance'}}}
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from horae_client.graphs import Graph

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
JOBS: Final = "__horae_jobs__"
"""The name of the attribute that holds the declared jobs: a list of mappings, each with the job's fields and `name`."""


def job(name: str | None = None, **fields: Any) -> Callable[[Decorated], Decorated]:
    """Declare a job for the decorated function.

    The keyword arguments are the fields of a job in `jobs.yaml`. The name defaults to the name of the function. Without
    a `target` the job waits in the queue that has its name, for a worker that calls the function.
    """

    def declare(function: Decorated) -> Decorated:
        declared = {"name": name or function.__name__, **fields}
        setattr(function, JOBS, [*getattr(function, JOBS, []), declared])
        return function

    return declare


def jobs_in(names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The jobs that the functions of a module declare, and its graphs, by name; `names` are `vars(module)`."""
    found: dict[str, dict[str, Any]] = {}
    for value in names.values():
        if isinstance(value, Graph):
            found[value.name] = msgspec.to_builtins(value.spec())
        for declared in getattr(value, JOBS, ()):
            fields = {key: one for key, one in declared.items() if key != "name"}
            if found.setdefault(declared["name"], fields) != fields:
                raise ValueError(f"the job {declared['name']!r} is declared twice")
    return found
