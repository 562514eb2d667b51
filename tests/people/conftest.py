"""Real issuers as processes of their own, a door that trusts one of them, and browsers."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.error import URLError

from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import role_bindings
from tests.api.api_servers import Door, open_doors
from tests.api.conftest import (  # noqa: F401 - fixtures
    admin,
    anyone,
    app,
    callers,
    client,
    door_cells,
    doors,
    key,
    other,
    platform,
    settings,
)
from tests.cluster import free_port
from tests.people.issuer import CLIENT, SECRET
from tests.store.walls import as_role

ROOT = Path(__file__).parents[2]
CALLBACK = "http://horae.test/login/callback"


@contextmanager
def process(words: list[str], port: int) -> Iterator[str]:
    """A server on a port of this machine while the block lasts; gives its URL."""
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{url}/.well-known/openid-configuration", timeout=10):
                    break
            except (URLError, ConnectionError, TimeoutError):
                assert server.poll() is None, "the issuer ended"
                assert time.monotonic() < deadline, "the issuer did not start"
                time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(60)


def our_issuer():
    """The one of `issuer.py`, which can be told to misbehave."""
    port = free_port()
    return process(["tests.people.issuer", str(port)], port)


def packaged_issuer(*users: dict):
    """oidc-provider-mock: somebody else's issuer."""
    port = free_port()
    claims = [word for user in users for word in ("--user-claims", json.dumps(user))]
    return process(["oidc_provider_mock", "--port", str(port), "--require-nonce", "true", *claims], port)


def control(url: str, **told: object) -> dict:
    request = urllib.request.Request(f"{url}/control", json.dumps(told).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


@asynccontextmanager
async def a_door(folder: Path, cells, issuer: str, **settings_: str) -> AsyncIterator[Door]:
    """An API process that sends people to this issuer."""
    oidc = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "redirect_url": CALLBACK}
    async with open_doors(1, folder, as_role(cells, "horae_api"), oidc=json.dumps(oidc), **settings_) as [door]:
        yield door


async def bind(store, tenant, principal: str, *bound: Role) -> None:
    await role_bindings.bind(Context.of(store, tenant, "test"), principal, bound)
