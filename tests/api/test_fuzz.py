"""The doors tried with requests that schemathesis makes from the OpenAPI document: all checks, right and wrong data,
single requests and sequences, over a socket, on real PostgreSQL.
"""

import logging

import pytest

from tests.api.calls import CALLS
from tests.api.fuzz.run import Seen, Size, a_known_world, run
from tests.store.walls import as_role

log = logging.getLogger(__name__)


@pytest.fixture
def fuzz(whole, store, cells, tmp_path):
    """Runs it: `await fuzz(Size(tries=5, sequences=50))` gives what was answered."""

    async def go(size: Size) -> Seen:
        return await run(await a_known_world(whole, store), store, as_role(cells, "horae_api"), tmp_path, size)

    return go


def check(seen: Seen, least: int) -> None:
    """No check of schemathesis failed, nothing broke, and everything the document offers was asked and answered."""
    log.info("%s requests of %s operations: %s", seen.statuses.total(), len(seen.operations), dict(seen.statuses))
    assert seen.code == 0, seen.said
    assert not [status for status in seen.statuses if status >= 500], seen.answers
    assert seen.statuses.total() >= least, seen.statuses
    assert not set(CALLS) - seen.operations


@pytest.mark.timeout(600)
async def test_thousands_of_generated_requests_find_nothing(fuzz):
    check(await fuzz(Size(tries=5, sequences=60, once=True)), 3_000)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
async def test_a_hundred_thousand_generated_requests_find_nothing(fuzz):
    check(await fuzz(Size(tries=700, sequences=5_000, steps=20, seed=8)), 100_000)
