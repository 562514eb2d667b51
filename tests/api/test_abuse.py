"""One tenant far beyond its quota, beside another who must not notice."""

import asyncio
import logging
from collections import Counter
from time import monotonic

import pytest

from horae.domain.limits.limits import Limit
from horae.domain.tenants.tenants import Allowance
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from tests.api.api_servers import open_doors
from tests.api.wire import Wire
from tests.store.walls import as_role

log = logging.getLogger(__name__)
QUOTA, TIMES, ABUSERS = 10.0, 50, 25
CALM = 0.05
"""Seconds between two requests of the other tenant."""
MAX_RATIO = 5.0
"""By how much the abuser may slow down the other tenant on a machine that is slow by itself."""


class Abuse:
    """Asks so many times its quota, whatever it is told."""

    def __init__(self, port, key):
        self._wires = [Wire(port, key) for _ in range(ABUSERS)]
        self.seen = Counter()
        self.refusal = None

    async def last(self, seconds):
        await asyncio.gather(*(self._ask(wire, monotonic() + seconds) for wire in self._wires))
        for wire in self._wires:
            wire.hang_up()

    async def _ask(self, wire, end):
        pause = ABUSERS / (QUOTA * TIMES)
        due = monotonic()
        while due < end:
            answer = await wire.ask("GET", "/api/v1/jobs")
            self.seen[answer.status] += 1
            if answer.status == 429:
                self.refusal = answer
            due += pause
            await asyncio.sleep(max(0.0, due - monotonic()))


async def _calmly(port, key, seconds):
    """How long each request of one who keeps to its quota took."""
    took, end = [], monotonic() + seconds
    async with Wire(port, key) as wire:
        while (began := monotonic()) < end:
            assert (await wire.ask("GET", "/api/v1/jobs")).status == 200
            took.append(monotonic() - began)
            await asyncio.sleep(CALM)
    return sorted(took)


def late_of(took):
    """The p95 of sorted times."""
    return took[int(len(took) * 0.95)]


@pytest.mark.parametrize(("seconds", "p95"), [(3.0, None), pytest.param(30.0, 0.25, marks=pytest.mark.long)])
async def test_one_far_beyond_its_quota_is_refused_and_another_does_not_notice(
    seconds, p95, key, other, store, cells, tmp_path
):
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(requests=Limit(QUOTA, QUOTA)))
    greedy, calm = await key(Role.VIEWER), await key(Role.VIEWER, of=other)
    async with open_doors(1, tmp_path, as_role(cells, "horae_api")) as [door]:
        alone = late_of(await _calmly(door.port, calm, seconds / 3))
        abuse = Abuse(door.port, greedy)
        began = monotonic()
        took, _ = await asyncio.gather(_calmly(door.port, calm, seconds), abuse.last(seconds))
        lasted = monotonic() - began
    late = late_of(took)
    log.info("abuser: %s; p95 of %s others: %.0f ms, %.1f times that of a run without the abuser",
             dict(abuse.seen), len(took), late * 1000, late / alone)  # fmt: skip
    assert set(abuse.seen) == {200, 429}
    assert abuse.seen[200] <= QUOTA * (lasted + 2)
    assert abuse.refusal.code == "SCH_429_RATE_LIMITED"
    assert int(abuse.refusal.headers["retry-after"]) >= 1
    assert abuse.refusal.headers["ratelimit"].startswith('"tenant";r=0;')
    assert abuse.refusal.headers["ratelimit-policy"] == '"tenant";q=10;w=1'
    if p95 is not None:
        assert late <= max(p95, MAX_RATIO * alone)
        assert abuse.seen.total() >= QUOTA * TIMES * seconds * 0.8
