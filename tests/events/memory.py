"""How much memory a run takes."""

import resource

MOST_GROWN = 256
"""MiB: whoever carries events holds a page of them, however many there are."""


def peak_mib() -> int:
    """The most that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
