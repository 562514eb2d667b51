"""Targets of a job: a URL we call, or a queue that workers pull from."""

from typing import Annotated, Literal

from pydantic import Field

from horae.api.models.base import Name, Number, Payload, Text, Told

SecretName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9_.-]{1,100}$")]
Url = Annotated[str, Field(strict=True, min_length=1, max_length=2000, examples=["https://example.com/hooks/coupons"])]
Timeout = Annotated[Number, Field(gt=0, le=30)]


class Bearer(Told):
    """`Authorization: Bearer`, with the secret of this name."""

    kind: Literal["bearer"]
    token: SecretName


class Basic(Told):
    """`Authorization: Basic`, with the name of the secret that is the password."""

    kind: Literal["basic"]
    username: Text
    password: SecretName


class Mtls(Told):
    """A client certificate and its key, in the secret of this name."""

    kind: Literal["mtls"]
    certificate: SecretName


class OAuth(Told):
    """OAuth 2.0 client credentials."""

    kind: Literal["oauth"]
    token_url: Url
    client_id: Text
    client_secret: SecretName
    scope: Text = ""
    audience: Text = ""


Auth = Annotated[Bearer | Basic | Mtls | OAuth, Field(discriminator="kind")]


class Http(Told):
    """A URL we call."""

    kind: Literal["http"]
    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: dict[str, Text] = {}
    connect_timeout: Timeout = 3.0
    read_timeout: Timeout = 5.0
    query: dict[str, Text] = {}
    body: Payload = None
    auth: Auth | None = None
    signing: SecretName | None = None
    ca: SecretName | None = None
    batch: Annotated[int, Field(strict=True, ge=1, le=1000)] = 1
    max_concurrency: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    rate: Annotated[Number, Field(gt=0, le=1e6)] | None = None
    completion_seconds: Annotated[Number, Field(ge=1, le=7 * 86400)] = 300.0


class Queue(Told):
    """A queue; what is in it waits until a worker claims it."""

    kind: Literal["queue"]
    name: Name
    claim_seconds: Annotated[Number, Field(ge=0.001, le=3600)] = 30.0


class Topic(Told):
    """A topic, subject or queue of one of the deployment's brokers; what it acknowledges has succeeded."""

    kind: Literal["topic"]
    broker: Name
    topic: Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
    read_timeout: Timeout = 5.0
    max_concurrency: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    rate: Annotated[Number, Field(gt=0, le=1e6)] | None = None


Target = Annotated[Http | Queue | Topic, Field(discriminator="kind")]
