"""Long computations in steps: each `next()` does a few milliseconds of work, and the last one returns the result.

The caller may do other work between two steps; an event loop does.
"""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[None, None, Result]


def finish(work: Steps[Result]) -> Result:
    """Run all steps at once and return the result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
