"""Named secrets as they are put and listed. No model shows a value."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, SecretStr

from horae.api.models.base import Shown, Told
from horae.domain.secrets import LONGEST_VALUE, MAX_HOSTS, Secret


class NewSecret(Told):
    """A value to be kept under the name in the path. It is never shown again."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"value": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "hosts": ["hooks.example.com"]}]
        }
    )

    value: Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_VALUE)]
    hosts: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=253)]] | None,
        Field(
            max_length=MAX_HOSTS,
            description="The hosts that it may be sent to: names, `*.example.com`, addresses. An empty list: to any. "
            "Where omitted they stay as they are.",
        ),
    ] = None


class SecretView(Shown):
    """A secret without its value; every change raises its version."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    hosts: Annotated[list[str], Field(description="The hosts that it is sent to alone; none: to any.")]

    @classmethod
    def of(cls, secret: Secret) -> "SecretView":
        """A secret as it is shown."""
        return cls(**secret._asdict() | {"hosts": list(secret.hosts)})
