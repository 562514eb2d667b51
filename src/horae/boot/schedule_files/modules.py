"""Reads jobs from a Python module: every function that `horae.schedules.job` decorated. No function is called."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from horae.boot.schedule_files.declared import ScheduleFile
from horae.domain.errors import Invalid, NotFound
from horae.schedules import WORDS


def read(name: str, owner: str | None) -> ScheduleFile:
    """The jobs of a module. The owner is `OWNER` of the module, or else its name."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise NotFound(f"there is no module {error.name!r} here; is its package installed?") from error
    jobs = dict(_found(module))
    if not jobs:
        raise Invalid(f"module {name!r} declares no job: decorate its functions with horae.schedules.job")
    return ScheduleFile(owner or str(getattr(module, "OWNER", name)), jobs)


def _found(module: ModuleType) -> list[tuple[str, dict[str, Any]]]:
    found: dict[str, dict[str, Any]] = {}
    for value in vars(module).values():
        for words in getattr(value, WORDS, ()):
            name = words["name"]
            said = {key: one for key, one in words.items() if key != "name"}
            if found.setdefault(name, said) != said:
                raise Invalid(f"module {module.__name__!r} declares {name!r} twice")
    return list(found.items())
