"""Models of named secrets. No response contains a value."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, SecretStr

from horae.api.models.base import RequestModel, ResponseModel
from horae.domain.encryption.secrets import LONGEST_VALUE, MAX_HOSTS, Secret


class NewSecret(RequestModel):
    """The value of a secret. No response contains it."""

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
            description="The hosts that the secret may be sent to: names, `*.example.com`, addresses. An empty list "
            "allows all hosts. Omit it to keep the current hosts.",
        ),
    ] = None


class SecretView(ResponseModel):
    """A secret without its value. Every change increments its version."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    hosts: Annotated[list[str], Field(description="The hosts that the secret may be sent to; empty: all hosts.")]

    @classmethod
    def of(cls, secret: Secret) -> "SecretView":
        """Returns the view of a secret."""
        return cls(**secret._asdict() | {"hosts": list(secret.hosts)})
