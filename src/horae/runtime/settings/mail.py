"""The mail server for alerts."""

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, Field, model_validator

from horae.domain.alerts.channels import EMAIL_ADDRESS
from horae.runtime.settings.facts import NODE, SecretText, SettingsGroup


class SmtpSettings(BaseModel):
    """The mail server for alerts by e-mail, out of `HORAE_SMTP_HOST` and the settings beside it."""

    host: str
    port: int
    tls: Literal["starttls", "tls", "off"]
    user: str
    password: str = Field(repr=False)
    sender: str
    domains: list[str]
    ca_file: Path | None


class MailSettings(SettingsGroup):
    """The mail server for [alerts by e-mail](alert-channels.md#e-mail)."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE,)

    smtp_host: str | None = None
    """The mail server.

    Change it to have alerts sent by e-mail.
    """
    smtp_port: int = Field(default=587, ge=1, le=65535)
    """The port of the mail server.

    Change it to 465 together with `HORAE_SMTP_TLS=tls`.
    """
    smtp_tls: Literal["starttls", "tls", "off"] = "starttls"
    """How the connection is encrypted: after a greeting, from the first byte, or not at all.

    Change it to what the server offers. `off` is refused beside a password.
    """
    smtp_user: str = ""
    """The name to log in with.

    Change it where the server wants a login.
    """
    smtp_password: SecretText = ""
    """The password to log in with.

    Change it where the server wants a login.
    """
    smtp_sender: str = ""
    """The plain address in `From`, such as `horae@example.com`; required with a mail server.

    Change it to an address that the server lets you use.
    """
    smtp_domains: list[str] = Field(default_factory=list)
    """The domains that mails may go to, as a list such as `["example.com"]`; empty: any.

    Change it where tenants are not your own people.
    """
    smtp_ca_file: Path | None = None
    """The PEM file of the authority that signed the server's certificate.

    Change it where the system does not know that authority.
    """

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.smtp_host is not None and not EMAIL_ADDRESS.fullmatch(self.smtp_sender):
            raise ValueError("a mail server needs HORAE_SMTP_SENDER, a plain address such as horae@example.com")
        if self.smtp_tls == "off" and self.smtp_password:
            raise ValueError("HORAE_SMTP_TLS=off would send HORAE_SMTP_PASSWORD readable for everyone on the way")
        return self

    def smtp(self) -> SmtpSettings | None:
        """The mail server for alerts; None where `HORAE_SMTP_HOST` is not set."""
        if self.smtp_host is None:
            return None
        return SmtpSettings(
            host=self.smtp_host,
            port=self.smtp_port,
            tls=self.smtp_tls,
            user=self.smtp_user,
            password=self.smtp_password,
            sender=self.smtp_sender,
            domains=self.smtp_domains,
            ca_file=self.smtp_ca_file,
        )
