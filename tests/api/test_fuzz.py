"""The doors tried with requests that schemathesis makes from the OpenAPI document: all checks, right and wrong data,
single requests and sequences, over a socket, on real PostgreSQL.
"""

import json
import logging
import os
from pathlib import Path

import pytest

from tests.api.calls import CALLS
from tests.api.fuzz.run import Seen, Size, a_known_world, run
from tests.store.walls import as_role

log = logging.getLogger(__name__)


@pytest.fixture
def fuzz(whole, store, cells, tmp_path):
    """Runs it: `await fuzz(Size(...))` gives what was answered."""

    async def go(size: Size) -> Seen:
        return await run(await a_known_world(whole, store), store, as_role(cells, "horae_api"), tmp_path, size)

    return go


def check(seen: Seen, least: int) -> None:
    """No check of schemathesis failed, nothing broke, and everything the document offers was asked and answered."""
    log.info("%s requests in %s passes: %s", seen.statuses.total(), seen.passes, dict(seen.statuses))
    assert seen.code == 0, seen.said
    assert not [status for status in seen.statuses if status >= 500], seen.answers
    assert seen.statuses.total() >= least, seen.statuses
    assert not set(CALLS) - seen.operations
    assert len(seen.succeeded & set(CALLS)) >= 0.8 * len(CALLS), set(CALLS) - seen.succeeded


@pytest.mark.timeout(600)
async def test_a_thousand_generated_requests_find_nothing(fuzz):
    size = Size(tries=8, seconds=10, least=1_000, brief=True)
    check(await fuzz(size), size.least)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
async def test_a_hundred_thousand_generated_requests_find_nothing(fuzz):
    size = Size(tries=100, seconds=100, least=100_000, seed=8)
    seen = await fuzz(size)
    if report := os.environ.get("FUZZ_REPORT"):
        answers = sorted((name, status, many) for (name, status), many in seen.answers.items())
        facts = {"requests": seen.statuses.total(), "passes": seen.passes, "statuses": seen.statuses}
        Path(report).write_text(json.dumps(facts | {"size": size._asdict(), "answers": answers}, indent=1))
    check(seen, size.least)
