"""One test over many files: as a test each, hundreds of files take longer to count than to read."""

from collections.abc import Callable, Iterable
from pathlib import Path

Check = Callable[[Path], None]


def for_every(paths: Iterable[Path]) -> Callable[[Check], Callable[[], None]]:
    """Makes a test that applies a check to every file; a failure names the file."""

    def decorate(check: Check) -> Callable[[], None]:
        def test() -> None:
            for path in paths:
                try:
                    check(path)
                except Exception as error:
                    error.add_note(f"in {path}")
                    raise

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate
