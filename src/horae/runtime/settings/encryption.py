"""The keys that encrypt payloads and secrets."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import model_validator

from horae.runtime.settings.facts import Secrecy, SecretText, SettingsGroup, SettingsPart


class TransitSettings(SettingsPart):
    """A key service with the transit API of Vault or OpenBao."""

    url: str
    """The address of the service."""
    key: str
    """The name of the key there."""
    mount: str = "transit"
    """The path at which the engine is mounted."""
    token: SecretText = ""
    """The token of this process."""
    token_file: Path | None = None
    """A file with the token, read at every call, because another process may renew it."""
    ca_file: Path | None = None
    """The PEM file of the authority that signed the service's certificate, if the system does not know it."""

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        if self.token and self.token_file is not None:
            raise ValueError("token and token_file are both given: keep one of them")
        return self

    def current_token(self) -> str:
        """The current token."""
        return self.token if self.token_file is None else self.token_file.read_text().strip()


class EncryptionSettings(SettingsGroup):
    """The keys that encrypt payloads and secrets. [Encryption](encryption.md) has the whole story."""

    encryption: Literal["on", "off"] = "on"
    """Whether payloads and secrets are encrypted in the database.

    Change it to `off` only where PostgreSQL and its backups are encrypted already and nobody else reads them.
    """
    keyring: Path | None = None
    """The file with the keys, readable for its owner only; `horae keyring create` makes it. Every process needs it,
    unless `HORAE_TRANSIT` is set.

    Change it when the file moves. New keys go into the same file, and processes read it again by themselves.
    """
    transit: Annotated[TransitSettings | None, Secrecy.INSIDE] = None
    """A key service instead of a file. Beside a keyring it wraps keys, and the keyring only unwraps them.

    Change it when keys must not lie on the machines that run Horae.
    """
