"""Refuses to build a wheel or an sdist without the console: such a package must not ship."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("src/horae/console/index.html")


class ConsoleHook(BuildHookInterface):  # type: ignore[type-arg]
    """Checks before each build that `make console` ran. An editable installation needs no console."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raise if the page of the console is missing."""
        if version != "editable" and not (Path(self.root) / PAGE).is_file():
            raise SystemExit("The console is not built, and a package without it must not ship: run `make dist`.")
