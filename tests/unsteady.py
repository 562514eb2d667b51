"""What failed and then passed: shown whole at the end of a run, and too much of it is a failure of the run.

`.ci/run` tries a failed test once more, because whoever shares its machine can spoil a time. Each name printed here is
owed a look all the same: faults of the product have shown themselves as tests that fail now and then.
"""

from typing import Any, Final

import pytest

BEARABLE: Final = 3


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and len(reporter.stats.get("rerun", ())) > BEARABLE:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"unsteady: {report.nodeid}", sep="_", yellow=True)
        terminalreporter.line(report.longreprtext)
