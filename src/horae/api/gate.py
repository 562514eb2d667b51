"""Admission of requests: the credential, the role, the rate. The body is not read before.

Default deny: a request passes only if its route names an action and the roles of the caller allow it.
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
from horae.domain.limits.limits import Limit
from horae.runtime.meter import Meter, MeterLevel, Rate
from horae.runtime.telemetry import bind, count
from horae.security import cookies, credentials
from horae.security.cookies import Csrf
from horae.security.credentials import LONGEST_CREDENTIAL, Credential
from horae.security.signed_texts import Signer
from horae.service.context import Context
from horae.service.identity.callers import Caller, Callers
from horae.service.identity.session_callers import Visitors

FAILURE_RATE: Final = Rate(rate=0.5, burst=20)
"""The rate of bad credentials per address: twenty at once, then one every two seconds."""
LOGIN_RATE: Final = Rate(rate=5.0, burst=50)
"""The rate of logins per address, successful or not."""
SUSPECT_LOOKUPS: Final = 4
"""Concurrent lookups of credentials for addresses that sent too many bad ones."""
MAX_SUSPECTS: Final = 1000
"""Callers that may wait for such a lookup; one more is refused, because it is a flood."""


class AdmittedCaller(NamedTuple):
    """A caller with permission for the action of the route."""

    caller: Caller
    ctx: Context


class Gate:
    """One per process. The limits are those of the tenant, or else the given defaults."""

    def __init__(self, callers: Callers, visitors: Visitors, signer: Signer, csrf: Csrf, limit: Limit) -> None:
        self.callers = callers
        self.visitors = visitors
        self.signer = signer
        self.csrf = csrf
        self._limit = limit
        self._meter = Meter()
        self._failures = Meter()
        self._logins = Meter()
        self._inside: Counter[UUID] = Counter()
        self._suspects = 0
        self._suspect_lookups = asyncio.Semaphore(SUSPECT_LOOKUPS)

    @asynccontextmanager
    async def admit(self, request: Request, action: str) -> AsyncIterator[AdmittedCaller]:
        """Yields the caller for the duration of the request. Lines of the log name the tenant from now on."""
        _check_address(request)
        caller = await self._caller_of(request)
        tenant = caller.tenant.id
        bind(tenant=tenant)
        self._take(request, caller)
        if not caller.may(action):
            raise Forbidden(caller.why_not(action), action=action)
        self._inside[tenant] += 1
        try:
            yield AdmittedCaller(caller, self.callers.context(caller))
        finally:
            self._inside[tenant] -= 1
            if not self._inside[tenant]:
                del self._inside[tenant]

    @asynccontextmanager
    async def limit_logins(self, request: Request) -> AsyncIterator[None]:
        """Limit the logins of an address. A failed login counts as a bad credential."""
        _check_address(request)
        address = _address(request)
        if self._logins.take(address, LOGIN_RATE) is None:
            raise RateLimited("too many logins from this address", self._logins.look(address, LOGIN_RATE).wait)
        with self._counting_failures(address):
            yield

    async def _caller_of(self, request: Request) -> Caller:
        """Returns the caller. A good credential passes even if others at the same address fail: many share a proxy."""
        with self._counting_failures(_address(request)):
            cookie = request.cookies.get(cookies.SESSION)
            if cookie is None or "authorization" in request.headers:
                return await self._find(request, self.callers, credentials.read(_bearer(request)))
            caller = await self._find(request, self.visitors, cookies.read(cookie))
        self.csrf.check(request.method, request.headers, caller.key.id)
        return caller

    async def _find(self, request: Request, among: Callers, credential: Credential) -> Caller:
        """Look up a credential. For an address with many failures only a few lookups run at the same time."""
        caller = among.recent(credential)
        if caller is not None:
            return caller
        if not self._failures.look(_address(request), FAILURE_RATE).wait:
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
            self._failures.take(address, FAILURE_RATE)
            count("api.unauthenticated", address=address)
            raise

    def _check_failures(self, address: str) -> None:
        level = self._failures.look(address, FAILURE_RATE)
        if level.wait:
            raise RateLimited("too many bad credentials from this address", level.wait)

    def _take(self, request: Request, caller: Caller) -> None:
        """Take one request from the rate of the tenant. The response headers say what is left."""
        tenant, limit = caller.tenant.id, caller.allowance.requests or self._limit
        most = limit.concurrency or self._limit.concurrency
        if most is not None and self._inside[tenant] >= most:
            raise RateLimited(f"the tenant already has {most} concurrent requests", 1.0)
        if limit.rate is None:
            return
        rate = Rate(limit.rate, max(1.0, limit.burst or limit.rate))
        taken = self._meter.take(tenant, rate)
        level = taken or self._meter.look(tenant, rate)
        request.state.left = _headers(rate, level)
        if taken is None:
            raise RateLimited(f"the tenant may send {limit.rate:g} requests per second", level.wait)


def rate_headers(request: Request) -> dict[str, str]:
    """Returns the headers with the rest of the rate of the tenant; none if the request was refused before."""
    found: dict[str, str] = getattr(request.state, "left", {})
    return found


def _headers(rate: Rate, level: MeterLevel) -> dict[str, str]:
    window = max(1, round(rate.burst / rate.rate))
    return {
        "RateLimit-Policy": f'"tenant";q={int(rate.burst)};w={window}',
        "RateLimit": f'"tenant";r={level.left};t={window}',
    }


def _address(request: Request) -> str:
    """Returns the host that a request comes from, as a trusted proxy reports it."""
    return host_of(request.client.host) if request.client else ""


def _bearer(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text or len(text) > LONGEST_CREDENTIAL:
        raise Unauthenticated("send your API key as `Authorization: Bearer horae_…`")
    return text.strip()


def _check_address(request: Request) -> None:
    """Refuse a path or query that is not UTF-8, or that has a NUL, which PostgreSQL cannot store."""
    try:
        for raw in (request.scope.get("raw_path") or b"", request.scope.get("query_string", b"")):
            if b"%" in raw and "\0" in unquote_to_bytes(raw).decode():
                raise BadRequest("the path and the query may not contain NUL")
    except UnicodeDecodeError as error:
        raise BadRequest("the path and the query must be percent-encoded UTF-8") from error
