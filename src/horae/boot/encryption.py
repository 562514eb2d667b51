"""Builds the encryption of payloads and secrets in this process from settings."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from horae.delivery.broker_connections import broker_rules
from horae.delivery.client import Client
from horae.delivery.transit import Transit, TransitKek
from horae.domain.errors import Invalid
from horae.domain.targets.egress import CLOSED, Egress
from horae.repositories.envelopes import Envelopes
from horae.runtime.settings import CellSettings, Settings, TransitSettings
from horae.security.keks import Kek, Keks
from horae.security.keyrings import Keyring
from horae.security.payload_cipher import MissingKeys, PayloadCipher
from horae.store.protocol import StoreProtocol
from horae.store.store import Store

ANYWHERE = Egress(tuple(network for kind in CLOSED.values() for network in kind), ("1-65535",), plain=True)
"""No egress limit: the deployer chooses the address of the key engine, not a tenant."""


def cipher_of(settings: Settings, store: StoreProtocol) -> PayloadCipher:
    """The cipher of this process. If both are configured, `HORAE_TRANSIT` wraps keys and the keyring only unwraps them.

    Without keys, storing anything that has to be encrypted fails, unless the settings switch encryption off.
    """
    providers: list[Kek] = []
    if settings.transit is not None:
        providers.append(_engine(settings.transit))
    if settings.keyring is not None:
        providers.append(Keyring(settings.keyring))
    if providers:
        return Envelopes(store, Keks(providers))
    return PayloadCipher() if settings.encryption == "off" else MissingKeys()


def require_keys(settings: Settings) -> None:
    """Refuse to start without keys, unless the settings switch encryption off."""
    if settings.encryption == "on" and settings.keyring is None and settings.transit is None:
        raise Invalid(
            "payloads and secrets are encrypted, and no key is configured: set HORAE_KEYRING to a file that "
            "`horae keyring create` makes, or HORAE_TRANSIT to a key engine; HORAE_ENCRYPTION=off keeps them in clear"
        )


def _engine(settings: TransitSettings) -> TransitKek:
    if not settings.token and settings.token_file is None:
        raise Invalid("HORAE_TRANSIT has no token: set HORAE_TRANSIT__TOKEN_FILE or HORAE_TRANSIT__TOKEN")
    authority = None if settings.ca_file is None else settings.ca_file.read_text()
    transit = Transit(settings.url, settings.key, settings.current_token, settings.mount, authority)
    return TransitKek(Client(ANYWHERE), transit)


@asynccontextmanager
async def open_store(settings: Settings, cells: Sequence[CellSettings]) -> AsyncIterator[Store]:
    """An open store that encrypts as the settings say."""
    async with Store.of(cells, broker_rules(settings.brokers), partial(cipher_of, settings)) as store:
        yield store
