"""From settings to keys: what seals payloads and secrets in this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from horae.delivery.client import Client
from horae.delivery.lines import known
from horae.delivery.transit import Transit, TransitKek
from horae.domain.egress import CLOSED, Egress
from horae.domain.errors import Invalid
from horae.runtime.settings import CellSettings, Settings, TransitSettings
from horae.security.keks import Kek, Keks
from horae.security.keyrings import Keyring
from horae.security.sealing import Missing, Sealing
from horae.store.cells import Store
from horae.store.envelopes import Envelopes

ANYWHERE = Egress(tuple(network for kind in CLOSED.values() for network in kind), ("1-65535",), plain=True)
"""The key engine's address is the deployer's own choice, not a tenant's."""


def sealing_of(settings: Settings, store: Store) -> Sealing:
    """What seals in this process. `HORAE_TRANSIT` wraps where both are given; the keyring then only unwraps.

    Without keys, and where nobody said that payloads stay in clear, nothing that has to be sealed can be stored.
    """
    providers: list[Kek] = []
    if settings.transit is not None:
        providers.append(_engine(settings.transit))
    if settings.keyring is not None:
        providers.append(Keyring(settings.keyring))
    if providers:
        return Envelopes(store, Keks(providers))
    return Sealing() if settings.sealing == "off" else Missing()


def require(settings: Settings) -> None:
    """Refuse to begin without keys, unless the settings say that payloads stay in clear."""
    if settings.sealing == "on" and settings.keyring is None and settings.transit is None:
        raise Invalid(
            "payloads and secrets are sealed, and no key is configured: set HORAE_KEYRING to a file that "
            "`horae keyring create` makes, or HORAE_TRANSIT to a key engine; HORAE_SEALING=off keeps them in clear"
        )


def _engine(settings: TransitSettings) -> TransitKek:
    if not settings.token and settings.token_file is None:
        raise Invalid("HORAE_TRANSIT has no token: set HORAE_TRANSIT__TOKEN_FILE or HORAE_TRANSIT__TOKEN")
    authority = None if settings.ca_file is None else settings.ca_file.read_text()
    told = Transit(settings.url, settings.key, settings.current_token, settings.mount, authority)
    return TransitKek(Client(ANYWHERE), told)


@asynccontextmanager
async def opened_store(settings: Settings, cells: Sequence[CellSettings]) -> AsyncIterator[Store]:
    """An open store that seals as the settings say."""
    async with Store.of(cells) as store:
        store.sealing = sealing_of(settings, store)
        store.brokers = known(settings.brokers)
        yield store
