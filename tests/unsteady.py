"""The second try: what failed beside other tests is run once more, alone, when the suite has ended.

`.ci/run` asks for it with `--again`, because whoever shares the machine can spoil a time. A try at once would run in
the same busy moment. Each test that passes then is printed whole, as unsteady, and is owed a look all the same: faults
of the product have shown themselves as tests that fail now and then. More than eight failed tests are not tried again.
"""

import subprocess
import sys
from typing import Any, Final

import pytest

BEARABLE: Final = 8
"""Of some 9,500 tests: as many as the three of 3,900 that were seen red in a run on a busy machine."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--again", action="store_true", help="run the tests that failed once more, alone, at the end")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Run the failed tests again, in the process that started the workers; if all pass, the session has passed."""
    is_asked = session.config.getoption("again") and not hasattr(session.config, "workerinput")
    if not is_asked or session.exitstatus != pytest.ExitCode.TESTS_FAILED:
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    kinds = [kind for kind in ("failed", "error") if kind in reporter.stats]
    tests = list(dict.fromkeys(report.nodeid for kind in kinds for report in reporter.stats[kind]))
    if 0 < len(tests) <= BEARABLE and _pass_alone(tests, reporter):
        reporter.stats["unsteady"] = [report for kind in kinds for report in reporter.stats.pop(kind)]
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in terminalreporter.stats.get("unsteady", ()):
        terminalreporter.section(f"unsteady: {report.nodeid}", sep="_", yellow=True)
        terminalreporter.line(report.longreprtext)


def _pass_alone(tests: list[str], reporter: Any) -> bool:
    reporter.write_line(f"\ntried again, alone: {' '.join(tests)}", flush=True)
    options = ("-n", "0", "-p", "no:cacheprovider", "--tb=native")
    return subprocess.run([sys.executable, "-m", "pytest", *options, *tests], check=False).returncode == 0
