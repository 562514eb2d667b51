"""The steps of a set-up: each is printed before it is done."""

from typing import Final, NamedTuple

from horae.boot.output import err

WIDTH: Final = 9
"""Characters of the longest name of a step."""


class StepResult(NamedTuple):
    """What became of a step: `there` (nothing to do), `done`, or `planned` in a dry run."""

    step: str
    state: str
    text: str


class SetupSteps:
    """Prints each step before it is done, and keeps them for `--json`. In a dry run no step is done."""

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.results: list[StepResult] = []

    @property
    def changes(self) -> int:
        """How many steps were done, or would be."""
        return sum(one.state != "there" for one in self.results)

    def is_there(self, step: str, text: str) -> None:
        """Print that a step has nothing to do."""
        self._print(StepResult(step, "there", text), f"there   {text}")

    def begins(self, step: str, text: str) -> bool:
        """Print a step that comes now; returns whether to do it."""
        if self.dry_run:
            self._print(StepResult(step, "planned", text), f"would   {text}")
        else:
            self._print(StepResult(step, "done", text), f"now     {text}")
        return not self.dry_run

    def _print(self, result: StepResult, text: str) -> None:
        self.results.append(result)
        err.print(f"{result.step:<{WIDTH}} {text}", highlight=False)
