"""Who comes in: the credential, the role, the rate. Nothing of a request is read before.

Default deny: a request passes only when its route names an action and the caller's roles cover it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes
from uuid import UUID

from starlette.requests import Request

from horae.api.addresses import host_of
from horae.domain.errors import BadRequest, Forbidden, RateLimited, Unauthenticated
from horae.domain.limits import Limit
from horae.runtime.meter import Level, Meter, Rate
from horae.runtime.telemetry import count
from horae.security import cookies, credentials
from horae.security.cookies import Csrf
from horae.security.credentials import Credential
from horae.security.seals import Seals
from horae.service.callers import Caller, Callers
from horae.service.context import Context
from horae.service.visitors import Visitors

FAILURES: Final = Rate(rate=0.5, burst=20)
"""How often an address may come with a bad credential: twenty times, then every two seconds."""
KNOCKS: Final = Rate(rate=5.0, burst=50)
"""How often an address may try to log in, well or badly."""
LONGEST_CREDENTIAL: Final = 200
SUSPECT_LOOKUPS: Final = 4
"""Credentials that are looked up at the same time for addresses that came with bad ones too often."""
MAX_SUSPECTS: Final = 1000
"""Such callers that may wait for that; one more is refused, because it is a flood."""


class Admitted(NamedTuple):
    """A caller who may do what the route does."""

    caller: Caller
    ctx: Context


class Gate:
    """One per process. Limits are the tenant's own where it has some, else the given ones."""

    def __init__(self, callers: Callers, visitors: Visitors, seals: Seals, csrf: Csrf, limit: Limit) -> None:
        self.callers = callers
        self.visitors = visitors
        self.seals = seals
        self.csrf = csrf
        self._limit = limit
        self._meter = Meter()
        self._failures = Meter()
        self._knocks = Meter()
        self._inside: Counter[UUID] = Counter()
        self._suspects = 0
        self._suspect_lookups = asyncio.Semaphore(SUSPECT_LOOKUPS)

    @asynccontextmanager
    async def admitted(self, request: Request, action: str) -> AsyncIterator[Admitted]:
        """The caller, while the request lasts."""
        _check_address(request)
        caller = await self._known(request)
        tenant = caller.tenant.id
        self._take(request, caller)
        if not caller.may(action):
            raise Forbidden(caller.why_not(action), action=action)
        self._inside[tenant] += 1
        try:
            yield Admitted(caller, self.callers.context(caller))
        finally:
            self._inside[tenant] -= 1
            if not self._inside[tenant]:
                del self._inside[tenant]

    @asynccontextmanager
    async def knocking(self, request: Request) -> AsyncIterator[None]:
        """A login while it lasts: not too often from one address, and one that fails counts as a bad credential."""
        _check_address(request)
        address = _address(request)
        if self._knocks.take(address, KNOCKS) is None:
            raise RateLimited("too many logins from this address", self._knocks.look(address, KNOCKS).wait)
        with self._counting_failures(address):
            yield

    async def _known(self, request: Request) -> Caller:
        """Who shows a good credential is let in, whatever others at the same address do: many share a proxy's."""
        with self._counting_failures(_address(request)):
            shown = request.cookies.get(cookies.SESSION)
            if shown is None or "authorization" in request.headers:
                return await self._find(request, self.callers, credentials.read(_bearer(request)))
            caller = await self._find(request, self.visitors, cookies.read(shown))
        self.csrf.check(request.method, request.headers, caller.key.id)
        return caller

    async def _find(self, request: Request, among: Callers, credential: Credential) -> Caller:
        """Where an address has failed often its callers are looked up a few at a time: good ones wait for a moment."""
        caller = among.recent(credential)
        if caller is not None:
            return caller
        if not self._failures.look(_address(request), FAILURES).wait:
            return await among.find(credential)
        if self._suspects >= MAX_SUSPECTS:
            self._check_failures(_address(request))
        self._suspects += 1
        try:
            async with self._suspect_lookups:
                return await among.find(credential)
        finally:
            self._suspects -= 1

    @contextmanager
    def _counting_failures(self, address: str) -> Iterator[None]:
        try:
            yield
        except Unauthenticated:
            self._check_failures(address)
            self._failures.take(address, FAILURES)
            count("api.unauthenticated", address=address)
            raise

    def _check_failures(self, address: str) -> None:
        level = self._failures.look(address, FAILURES)
        if level.wait:
            raise RateLimited("too many bad credentials from this address", level.wait)

    def _take(self, request: Request, caller: Caller) -> None:
        """One request of the tenant's rate. What is left goes with the answer, whatever that will be."""
        tenant, limit = caller.tenant.id, caller.allowance.requests or self._limit
        most = limit.concurrency or self._limit.concurrency
        if most is not None and self._inside[tenant] >= most:
            raise RateLimited(f"the tenant has {most} requests under way", 1.0)
        if limit.rate is None:
            return
        rate = Rate(limit.rate, max(1.0, limit.burst or limit.rate))
        taken = self._meter.take(tenant, rate)
        level = taken or self._meter.look(tenant, rate)
        request.state.left = _headers(rate, level)
        if taken is None:
            raise RateLimited(f"the tenant may ask {limit.rate:g} times a second", level.wait)


def left(request: Request) -> dict[str, str]:
    """The headers that say what is left of the tenant's rate, as far as the request came."""
    found: dict[str, str] = getattr(request.state, "left", {})
    return found


def _headers(rate: Rate, level: Level) -> dict[str, str]:
    window = max(1, round(rate.burst / rate.rate))
    return {
        "RateLimit-Policy": f'"tenant";q={int(rate.burst)};w={window}',
        "RateLimit": f'"tenant";r={level.left};t={window}',
    }


def _address(request: Request) -> str:
    """The host that a request comes from, as a trusted proxy says it."""
    return host_of(request.client.host) if request.client else ""


def _bearer(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text or len(text) > LONGEST_CREDENTIAL:
        raise Unauthenticated("send your API key as `Authorization: Bearer horae_…`")
    return text.strip()


def _check_address(request: Request) -> None:
    """Refuse a path or query that is no UTF-8, which would be read as another text, or that PostgreSQL cannot hold."""
    try:
        for raw in (request.scope.get("raw_path") or b"", request.scope.get("query_string", b"")):
            if b"%" in raw and "\0" in unquote_to_bytes(raw).decode():
                raise BadRequest("a path or query may not hold NUL")
    except UnicodeDecodeError as error:
        raise BadRequest("a path or query is percent-encoded UTF-8") from error
