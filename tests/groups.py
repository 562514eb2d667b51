"""Which tests share a worker: those that would starve each other, or that share a server, run one after another.

`pytest-xdist` has marks for that, but its 3.8 writes them into an attribute that pytest 9.2 no longer reads. So tests
are grouped by their folders, here.
"""

from typing import Any, Final

from xdist.scheduler import LoadScopeScheduling

GROUPS: Final = {
    "tests/system/": "processes",
    "tests/console/": "processes",
    "tests/events/": "processes",
    "tests/sdk/": "sdk",
    "tests/testing/": "testing-kit",
}
"""Clusters under faults, browsers and brokers take all that a machine has: one of them at a time."""


class GroupScheduling(LoadScopeScheduling):
    """Hands whole groups to workers, and all other tests one by one."""

    def _split_scope(self, nodeid: str) -> str:
        return next((group for folder, group in GROUPS.items() if nodeid.startswith(folder)), nodeid)


def pytest_xdist_make_scheduler(config: Any, log: Any) -> GroupScheduling:
    """Called by xdist where tests are distributed."""
    return GroupScheduling(config, log)
