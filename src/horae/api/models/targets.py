"""Models of targets: an HTTP request, a queue that workers poll, or a broker topic."""

from typing import Annotated, Literal

from pydantic import Field

from horae.api.models.base import Name, Number, Payload, RequestModel, Text
from horae.api.models.showing import SPARSE
from horae.domain.events.channels import TOPIC
from horae.domain.targets.auth import SECRET_NAME
from horae.domain.targets.targets import (
    LARGEST_BATCH,
    MAX_CLAIM_S,
    MAX_COMPLETION_TIMEOUT_S,
    MAX_CONCURRENCY,
    MAX_LONG_TIMEOUT_S,
    MAX_REQUESTS_PER_S,
    MAX_TIMEOUT_S,
    MIN_CLAIM_S,
)

SecretName = Annotated[str, Field(strict=True, pattern=f"^{SECRET_NAME.pattern}$")]
Url = Annotated[str, Field(strict=True, min_length=1, max_length=2000, examples=["https://example.com/hooks/coupons"])]
Timeout = Annotated[Number, Field(gt=0, le=MAX_TIMEOUT_S)]
LongTimeout = Annotated[Number, Field(gt=0, le=MAX_LONG_TIMEOUT_S)]


class BearerAuthSpec(RequestModel):
    """`Authorization: Bearer`. `token` is the name of a secret."""

    kind: Literal["bearer"]
    token: SecretName


class BasicAuthSpec(RequestModel):
    """`Authorization: Basic`. `password` is the name of a secret."""

    kind: Literal["basic"]
    username: Text
    password: SecretName


class MtlsAuthSpec(RequestModel):
    """A TLS client certificate. `certificate` is the name of a secret with the chain and its key."""

    kind: Literal["mtls"]
    certificate: SecretName


class OAuthSpec(RequestModel):
    """OAuth 2.0 client credentials. `client_secret` is the name of a secret."""

    kind: Literal["oauth"]
    token_url: Url
    client_id: Text
    client_secret: SecretName
    scope: Text = ""
    audience: Text = ""


Auth = Annotated[BearerAuthSpec | BasicAuthSpec | MtlsAuthSpec | OAuthSpec, Field(discriminator="kind")]


class HttpTargetSpec(RequestModel):
    """An HTTP request to a URL."""

    kind: Literal["http"]
    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: dict[str, Text] = {}
    connect_timeout: Timeout = 3.0
    read_timeout: LongTimeout = 5.0
    query: dict[str, Text] = {}
    body: Payload = None
    auth: Auth | None = None
    signing: SecretName | None = None
    ca: SecretName | None = None
    batch: Annotated[int, Field(strict=True, ge=1, le=LARGEST_BATCH)] = 1
    max_concurrency: Annotated[int, Field(strict=True, ge=1, le=MAX_CONCURRENCY)] | None = None
    rate: Annotated[Number, Field(gt=0, le=MAX_REQUESTS_PER_S)] | None = None
    completion_seconds: Annotated[Number, Field(ge=1, le=MAX_COMPLETION_TIMEOUT_S)] = 300.0


class QueueTargetSpec(RequestModel):
    """A queue. Its instances wait until a worker claims them."""

    kind: Literal["queue"]
    name: Name
    claim_seconds: Annotated[Number, Field(ge=MIN_CLAIM_S, le=MAX_CLAIM_S)] = 30.0


class TopicTargetSpec(RequestModel):
    """A topic, subject or queue of a broker of the deployment. A message that the broker acknowledges has succeeded."""

    kind: Literal["topic"]
    broker: Name
    topic: Annotated[str, Field(strict=True, pattern=f"^{TOPIC.pattern}$")]
    read_timeout: Timeout = 5.0
    max_concurrency: Annotated[int, Field(strict=True, ge=1, le=MAX_CONCURRENCY)] | None = None
    rate: Annotated[Number, Field(gt=0, le=MAX_REQUESTS_PER_S)] | None = None


Target = Annotated[HttpTargetSpec | QueueTargetSpec | TopicTargetSpec, Field(discriminator="kind")]
TargetView = Annotated[Target, SPARSE]
"""The target of a job in a response."""
