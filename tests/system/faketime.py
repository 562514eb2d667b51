"""A process with a wall clock of its own, by libfaketime. What counts on from a start (CLOCK_BOOTTIME) stays real."""

from pathlib import Path


def faketime() -> str | None:
    """The library that moves clocks, where it is installed."""
    return next((str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)


def faked(file: Path) -> dict[str, str]:
    """What a process needs in its environment so that its wall clock is what a file says, within a second.

    The library allocates memory when it reads the file: a program that looks at the time in signal handlers, as
    PostgreSQL does, may find its heap broken. So it is not to run like that for longer than needed.
    """
    if (library := faketime()) is None:
        return {}
    env = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_CACHE_DURATION": "1"}
    # The library's "fix" for waits on a monotonic clock makes them return at once: the interpreter's lock would spin.
    return {**env, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0"}


def set_clock(file: Path, by: str) -> None:
    """As libfaketime says it: "+8h", "-1h", "+0 x1.1"; in one step, for a reader at any moment."""
    made = file.with_suffix(".new")
    made.write_text(by + "\n")
    made.chmod(0o644)
    made.replace(file)
