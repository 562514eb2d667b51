"""The API of a test in a thread of its own, and keys for it: what a command speaks to."""

import asyncio
import threading
from concurrent.futures import Future

from horae.boot.api_server import api_server
from horae.boot.encryption import open_store
from horae.domain.errors import NotFound
from horae.domain.events.channels import Broker
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.settings import Settings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from tests.api.api_servers import SECRET
from tests.keyring import keyring

START_S = 60.0


class ApiThread:
    """An API server over some cells, on a free port. It starts with the first question for its address."""

    def __init__(self, cells, **settings):
        self._facts = {"environment": "test", "api_secret": SECRET, "api_port": 0, "keyring": keyring()}
        self._facts |= {"cells": cells} | settings
        self._keys = {}
        self._loop = self._stop = self._store = self._thread = None

    @property
    def url(self):
        """Where it listens."""
        if self._thread is None:
            ready = Future()
            self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),), daemon=True)
            self._thread.start()
            self._url = ready.result(START_S)
        return self._url

    def key(self, tenant="default", *roles):
        """The text of a key of a tenant, which is created where it is missing."""
        wanted = (tenant, roles or (Role.ADMIN,))
        if wanted not in self._keys:
            assert self.url
            self._keys[wanted] = asyncio.run_coroutine_threadsafe(self._key(*wanted), self._loop).result(START_S)
        return self._keys[wanted]

    def close(self):
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_S)

    async def _serve(self, ready):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            settings = Settings(**self._facts)  # not earlier: a test sets its environment first
            async with open_store(settings, settings.all_cells()) as store:
                self._store = store
                store.brokers = {"main": Broker("kafka", ("*",))}
                async with api_server(settings, store) as url:
                    ready.set_result(url)
                    await self._stop.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    async def _key(self, name, roles):
        try:
            tenant = await tenants.find(self._store, name)
        except NotFound:
            width = 1 if name == SYSTEM else 16
            tenant = await tenants.create(PlatformContext(self._store, "test"), name, width=width)
        made = await api_keys.create(Context.of(self._store, tenant, "test"), "-".join(["cli", *roles]), roles)
        return made.text
