"""Secrets without their values."""

from datetime import datetime

from horae_client.models.base import Model


class Secret(Model, frozen=True, kw_only=True):
    """A secret without its value. Every change increments its version. `hosts` empty: it may be sent to all hosts."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    hosts: list[str]
