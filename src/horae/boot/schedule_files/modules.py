"""Reads jobs from a Python module: the functions that `horae_client.schedules.job` decorated. None is called."""

import importlib
import sys
from pathlib import Path

from horae.boot.schedule_files.declared import ScheduleFile
from horae.domain.errors import Invalid, NotFound
from horae_client.schedules import jobs_in


def read(name: str, owner: str | None) -> ScheduleFile:
    """The jobs of a module. The owner is `OWNER` of the module, or else its name."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise NotFound(f"there is no module {error.name!r} here; is its package installed?") from error
    try:
        jobs = jobs_in(vars(module))
    except ValueError as error:
        raise Invalid(f"module {name!r}: {error}") from error
    if not jobs:
        raise Invalid(f"module {name!r} declares no job: decorate its functions with horae_client.schedules.job")
    return ScheduleFile(owner or str(getattr(module, "OWNER", name)), jobs)
