"""One of two cells is down: it refuses everyone, or says nothing at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from horae.domain.ids import shard_in
from horae.domain.tenants.tenants import Tenant
from horae.runtime.settings import CellSettings
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store.cells import Cell
from horae.store.store import Store
from tests.system.proxy import Controls, proxied

WEATHERS = ("refuse", "cut")
"""A cell that was stopped, and one behind a network that drops everything."""


def first_behind(cells: Sequence[CellSettings], proxy: Controls, role: str | None = None) -> list[CellSettings]:
    """The same cells; the first one is reached by the proxy."""

    def reached(cell: CellSettings, port: int | None) -> CellSettings:
        parts = urlsplit(cell.dsn)
        netloc = f"{role or parts.username}@127.0.0.1:{port or parts.port}"
        return CellSettings(name=cell.name, dsn=parts._replace(netloc=netloc).geturl())

    return [reached(cells[0], proxy.ports[0]), *(reached(cell, None) for cell in cells[1:])]


@contextmanager
def mended_proxy(cells: Sequence[CellSettings]) -> Iterator[Controls]:
    """A proxy before the first cell; at the end it lets everyone through, so that all can close what they have."""
    with proxied(cells[0].dsn) as proxy:
        yield proxy
        proxy.mend()


async def a_tenant_in(store: Store, cell: Cell, name: str = "t", **facts: Any) -> Tenant:
    """A tenant that is at home in this cell."""
    for n in range(100):
        tenant = await tenants.create(PlatformContext(store, "test"), f"{name}{n}", **facts)
        if store.cell(shard_in(tenant.id)) is cell:
            return tenant
    raise AssertionError("no tenant fell into the cell")
