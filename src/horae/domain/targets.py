"""Where an attempt goes: an HTTP endpoint or a broker's topic that we push to, or a queue that workers pull from."""

from typing import Any, Final

import msgspec

from horae.domain.auth import Auth, OAuthAuth, check_secret_name, secrets_in
from horae.domain.channels import Topic
from horae.domain.errors import Invalid
from horae.domain.templates import compiled, compiled_text
from horae.domain.urls import check_header, check_url

LONGEST_CLAIM: Final = 3600.0
LONGEST_NAME: Final = 120
SLOT_MARGIN_MS: Final = 5000
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
LARGEST_BATCH: Final = 1000
LONGEST_COMPLETION: Final = 7 * 86400.0


class HttpTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="http", omit_defaults=True):
    """A URL we call. Timeouts are in seconds; five for the answer, as the seed has it.

    Values of `query` and `headers`, and `body` as a whole, may hold placeholders; without a `body` the call itself is
    sent. `signing` and `ca` name secrets. `batch` is how many instances one request may carry, `rate` how many requests
    a second may bring, `completion_seconds` how long after a 202 we wait to hear of the end.
    """

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}
    connect_timeout: float = 3.0
    read_timeout: float = 5.0
    query: dict[str, str] = {}
    body: Any = None
    auth: Auth | None = None
    signing: str | None = None
    ca: str | None = None
    batch: int = 1
    max_concurrency: int | None = None
    rate: float | None = None
    completion_seconds: float = 300.0

    def __post_init__(self) -> None:
        check_url(self.url)
        if self.method not in METHODS:
            raise Invalid(f"a target's method is one of {', '.join(sorted(METHODS))}, not {self.method!r}")
        if not (0 < self.connect_timeout <= 30 and 0 < self.read_timeout <= 30):
            raise Invalid("connect_timeout and read_timeout lie above 0 and at most at 30 seconds")
        for name in (self.signing, self.ca):
            if name is not None:
                check_secret_name(name)
        _check_limits(self)
        _check_content(self)


class QueueTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="queue", omit_defaults=True):
    """A named queue; what is in it waits until a worker claims it."""

    name: str
    claim_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise Invalid(f"a queue's name is 1 to {LONGEST_NAME} printable characters")
        if not 0.001 <= self.claim_seconds <= LONGEST_CLAIM:
            raise Invalid(f"claim_seconds lies above 0 and at most at {LONGEST_CLAIM:g} seconds")


class TopicTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="topic", omit_defaults=True):
    """A topic, subject or queue of a broker that the deployment has; an attempt succeeds when it is acknowledged.

    `read_timeout` is how many seconds the broker may take for that.
    """

    broker: str
    topic: str
    read_timeout: float = 5.0
    max_concurrency: int | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        _ = self.place
        if not 0 < self.read_timeout <= 30:
            raise Invalid("read_timeout lies above 0 and at most at 30 seconds")
        if self.max_concurrency is not None and self.max_concurrency < 1:
            raise Invalid("max_concurrency is 1 or more")
        if self.rate is not None and not 0 < self.rate <= 1e6:
            raise Invalid("a rate lies above 0 and at most at a million messages a second")

    @property
    def place(self) -> Topic:
        """Where it leads."""
        return Topic(self.broker, self.topic)

    @property
    def url(self) -> str:
        """What tells it from other targets."""
        return f"topic://{self.broker}/{self.topic}"


Target = HttpTarget | QueueTarget | TopicTarget
PUSHED: Final = (HttpTarget, TopicTarget)
"""What a node sends to by itself."""


def slot_ms(target: Target) -> int:
    """How long a claimed attempt may stay unanswered before it counts as lost; never the job's run time."""
    if isinstance(target, QueueTarget):
        return round(target.claim_seconds * 1000)
    if isinstance(target, TopicTarget):
        return round(target.read_timeout * 1000) + SLOT_MARGIN_MS
    requests = 2 if isinstance(target.auth, OAuthAuth) else 1  # a token may have to be fetched before
    return requests * round((target.connect_timeout + target.read_timeout) * 1000) + SLOT_MARGIN_MS


def secrets_of(target: Target) -> list[str]:
    """The names of the secrets whose values a call needs."""
    return secrets_in(target.auth, target.signing, target.ca) if isinstance(target, HttpTarget) else []


def queue_of(target: Target) -> str | None:
    """The queue whose workers it waits for; None for what we push ourselves."""
    return target.name if isinstance(target, QueueTarget) else None


def _check_limits(target: HttpTarget) -> None:
    if not 1 <= target.batch <= LARGEST_BATCH:
        raise Invalid(f"a batch is 1 to {LARGEST_BATCH} instances, not {target.batch}")
    if target.max_concurrency is not None and target.max_concurrency < 1:
        raise Invalid("max_concurrency is 1 or more")
    if target.rate is not None and not 0 < target.rate <= 1e6:
        raise Invalid("a rate lies above 0 and at most at a million requests a second")
    if not 1 <= target.completion_seconds <= LONGEST_COMPLETION:
        raise Invalid("completion_seconds lies between 1 second and 7 days")


def _check_content(target: HttpTarget) -> None:
    """Refuse what could not be rendered: now, when someone reads the message."""
    for name, value in target.headers.items():
        check_header(name, value)
    fills = [compiled_text(value) for value in (*target.headers.values(), *target.query.values())]
    fills.append(compiled(target.body))
    if target.method == "GET" and (target.body is not None or target.batch > 1):
        raise Invalid("a GET has no body: use query, or another method")
    if target.batch > 1 and (target.body is not None or any(fills)):
        raise Invalid("a batch carries whole calls: it has no body template, and no placeholders elsewhere")
