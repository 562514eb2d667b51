"""A node is who its host is called: two of them on one host are one, and one that starts again is who it was."""

from datetime import timedelta
from typing import Any
from uuid import NAMESPACE_DNS, UUID, uuid5

from horae.engine import node
from horae.engine.leases import NodeIdentity


def plant(put: Any) -> None:
    def identity(_token: UUID, name: str, ttl: timedelta) -> NodeIdentity:
        return NodeIdentity(uuid5(NAMESPACE_DNS, name), name, ttl)

    put(node, "NodeIdentity", identity)
