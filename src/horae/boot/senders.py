"""Builds what calls targets from the settings: the HTTP client, its egress rules, and a sender."""

from horae.boot.secrets import secrets_of
from horae.delivery.client import Client
from horae.delivery.names import shorten_lookups
from horae.delivery.push import EgressOf, Sender
from horae.domain.targets.egress import Egress
from horae.runtime.settings import Settings
from horae.store.protocol import StoreProtocol


async def sender_of(settings: Settings, store: StoreProtocol, egress_of: EgressOf = lambda _tenant_id: None) -> Sender:
    """A sender with this deployment's secrets, without brokers."""
    return Sender(client_of(settings), await secrets_of(settings, store), egress_of=egress_of)


def client_of(settings: Settings) -> Client:
    """The HTTP client that calls targets, limited to the allowed addresses."""
    shorten_lookups()
    return Client(egress_of(settings))


def egress_of(settings: Settings) -> Egress:
    """The addresses that calls may go to, by the rules of the deployment."""
    allowed = settings.all_egress()
    return Egress(tuple(allowed.networks), tuple(allowed.ports), allowed.plain)
