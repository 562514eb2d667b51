"""Checks, before anything fires, whether the keyring is the one of this database."""

from horae.domain.errors import KeysUnavailable, Unfit, Unopenable
from horae.repositories.envelopes import Envelopes
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.encryption import data_keys


async def check_keyring(settings: Settings, cell: Cell, cipher: object) -> None:
    """Refuse a keyring that does not open the first data key of a cell: it belongs to another deployment.

    A key engine is not asked: it may be down for a moment, which is no reason not to start.
    """
    if settings.keyring is None or settings.transit is not None or not isinstance(cipher, Envelopes):
        return
    async with cell.statement() as tx:
        found = await data_keys.page(tx, data_keys.FIRST, 1)
    for key in found:
        try:
            await cipher.keks.unwrap(key.tenant_id, key.version, key.wrapped)
        except (KeysUnavailable, Unopenable) as error:
            raise Unfit(
                f"{cell.name}: {settings.keyring} is the keyring of another deployment ({error}): set HORAE_KEYRING to"
                " the one with which this database was set up"
            ) from error
