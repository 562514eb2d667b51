"""What the modules of all vendors share: requests, secrets, and the meaning of an answer."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from horae.delivery.http import HttpAnswer, host_of
from horae.delivery.secrets import Secrets, Unsendable, secret_for_hosts
from horae.domain.errors import ChannelRefused, Invalid, Unavailable
from horae.domain.instances.outcomes import Retryable, Unrecoverable
from horae.domain.targets.answers import judge
from horae.domain.targets.urls import check_url, is_sendable

JSON: Final = {"Content-Type": "application/json; charset=utf-8"}
MAX_RETRY_AFTER_S: Final = 3600.0
"""The longest pause that a vendor can ask for."""


class ChannelRequest(NamedTuple):
    """A POST to a vendor. Its URL and headers may hold secrets, so that it is never shown."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return "ChannelRequest(…)"


class ChannelSecrets:
    """The named secrets of one tenant, for the request of a channel. What is wrong with one is `ChannelRefused`."""

    def __init__(self, secrets: Secrets, tenant_id: UUID) -> None:
        self._secrets = secrets
        self._tenant_id = tenant_id

    def url(self, name: str) -> str:
        """Return the URL of a hook, which is a secret as a whole. No error repeats it."""
        value = self._value(name).strip()
        try:
            check_url(value)
        except Invalid:
            raise ChannelRefused(f"the secret {name!r} is not an http or https URL") from None  # the cause repeats it
        self._value(name, host_of(value))
        return value

    def text(self, name: str, url: str) -> str:
        """Return a secret that is about to be used for a call of this URL."""
        value = self._value(name, host_of(url)).strip()
        if not is_sendable(value):
            raise ChannelRefused(f"the secret {name!r} has a control character in it")
        return value

    def _value(self, name: str, *hosts: str) -> str:
        try:
            return secret_for_hosts(self._secrets, self._tenant_id, name, *hosts)
        except Unsendable as error:
            raise ChannelRefused(str(error)) from None


def check_status(vendor: str, answer: HttpAnswer) -> None:
    """Return if the answer is 2xx; raises `Unavailable` if a retry may help, and `ChannelRefused` if none does."""
    match judge(answer.status, answer.headers):
        case Retryable(message=message, retry_after=seconds):
            raise later(f"{vendor} {message}", seconds)
        case Unrecoverable(message=message):
            raise ChannelRefused(f"{vendor} {message}")


def later(message: str, seconds: float | None) -> Unavailable:
    """Return the error for a message that can be sent again; `retry_after` is in seconds, where the vendor names it."""
    if seconds is None:
        return Unavailable(message)
    return Unavailable(message, retry_after=min(seconds, MAX_RETRY_AFTER_S))
