"""Nodes of tests: built as the program builds them, without its upkeep."""

from datetime import timedelta
from typing import Any

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.delivery.secrets import Secrets
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.repositories.secret_book import SecretBook
from horae.store.store import Store
from tests.egress import ANYWHERE


def node_in(
    store: Store, name: str, ttl: timedelta, client: Client | None = None, secrets: Secrets | None = None, **facts: Any
) -> Node:
    """A node whose sender follows the egress rules of tenants, not yet started."""
    allowances = Allowances.of(store)
    sender = Sender(client or Client(ANYWHERE), secrets, egress_of=allowances.egress)
    book = secrets if isinstance(secrets, SecretBook) else None
    return Node(store, name, ttl, sender, allowances, secrets=book, **facts)
