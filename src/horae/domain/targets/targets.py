"""Targets of attempts: an HTTP endpoint or a topic that nodes push to, or a queue that workers claim from."""

from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from horae.domain.errors import Invalid
from horae.domain.events.channels import TopicAddress
from horae.domain.names import LONGEST_NAME
from horae.domain.targets.auth import Auth, OAuthAuth, check_secret_name, secrets_in
from horae.domain.targets.templates import compile_text, compile_value
from horae.domain.targets.urls import check_header, check_url

MIN_CLAIM_S: Final = 0.001
MAX_CLAIM_S: Final = 3600
"""Seconds that a worker may hold an attempt without a heartbeat."""
MAX_TIMEOUT_S: Final = 30
"""Seconds of a connect timeout, and of the read timeout of an ordinary call."""
MAX_LONG_TIMEOUT_S: Final = 1800
"""Seconds of the read timeout of a long call."""
MAX_REQUESTS_PER_S: Final = 1e6
"""The highest rate of a target."""
MAX_CONCURRENCY: Final = 1_000_000
"""The most calls that a target takes at the same time."""
SLOT_MARGIN_MS: Final = 5000
"""How much longer than its timeouts an attempt may stay unanswered before it is lost."""
MAX_ORDINARY_SLOT_MS: Final = 2 * 2 * MAX_TIMEOUT_S * 1000 + SLOT_MARGIN_MS
"""The longest slot of an ordinary call, with the fetch of a token. The slot of every long call is longer."""
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
LARGEST_BATCH: Final = 1000
"""Instances in one request."""
MAX_COMPLETION_TIMEOUT_S: Final = 7 * 86_400
"""Seconds between a 202 and the completion."""


class HttpTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="http", omit_defaults=True):
    """A URL that nodes call. Timeouts are in seconds; five for the answer, as in the seed.

    Values of `query` and `headers`, and all of `body`, may contain placeholders; without a `body` the call itself is
    sent. `signing` and `ca` name secrets. `batch` is how many instances one request may carry, `rate` how many requests
    per second are allowed, `completion_seconds` how long after a 202 the completion may take.
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
        if not 0 < self.connect_timeout <= MAX_TIMEOUT_S:
            raise Invalid(f"connect_timeout lies above 0 and at most at {MAX_TIMEOUT_S} seconds")
        if not 0 < self.read_timeout <= MAX_LONG_TIMEOUT_S:
            raise Invalid(f"read_timeout lies above 0 and at most at {MAX_LONG_TIMEOUT_S} seconds")
        if self.batch > 1 and self.read_timeout > MAX_TIMEOUT_S:
            raise Invalid(f"a batch is answered within {MAX_TIMEOUT_S} seconds; a long call carries one instance")
        for name in (self.signing, self.ca):
            if name is not None:
                check_secret_name(name)
        _check_limits(self)
        _check_content(self)


class QueueTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="queue", omit_defaults=True):
    """A named queue; its instances wait until a worker claims them."""

    name: str
    claim_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise Invalid(f"a queue's name is 1 to {LONGEST_NAME} printable characters")
        if not MIN_CLAIM_S <= self.claim_seconds <= MAX_CLAIM_S:
            raise Invalid(f"claim_seconds lies above 0 and at most at {MAX_CLAIM_S:g} seconds")


class TopicTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="topic", omit_defaults=True):
    """A topic, subject or queue of a broker of the deployment; an attempt succeeds when the broker acknowledges it.

    `read_timeout` is how many seconds the broker may take to acknowledge.
    """

    broker: str
    topic: str
    read_timeout: float = 5.0
    max_concurrency: int | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        _ = self.place
        if not 0 < self.read_timeout <= MAX_TIMEOUT_S:
            raise Invalid(f"read_timeout lies above 0 and at most at {MAX_TIMEOUT_S} seconds")
        if self.max_concurrency is not None and self.max_concurrency < 1:
            raise Invalid("max_concurrency is 1 or more")
        if self.rate is not None and not 0 < self.rate <= MAX_REQUESTS_PER_S:
            raise Invalid("a rate lies above 0 and at most at a million messages a second")

    @property
    def place(self) -> TopicAddress:
        """The address of the topic."""
        return TopicAddress(self.broker, self.topic)

    @property
    def url(self) -> str:
        """The name that distinguishes it from other targets."""
        return f"topic://{self.broker}/{self.topic}"


Target = HttpTarget | QueueTarget | TopicTarget
PUSHED: Final = (HttpTarget, TopicTarget)
"""Targets that nodes push to."""


def slot_ms(target: Target) -> int:
    """Return how long a claimed attempt may stay unanswered before it counts as lost; not the job's run time."""
    if isinstance(target, QueueTarget):
        return round(target.claim_seconds * 1000)
    if isinstance(target, TopicTarget):
        return round(target.read_timeout * 1000) + SLOT_MARGIN_MS
    token_s = 0.0
    if isinstance(target.auth, OAuthAuth):  # a token may have to be fetched first
        token_s = target.connect_timeout + min(target.read_timeout, MAX_TIMEOUT_S)
    slot = round((token_s + target.connect_timeout + target.read_timeout) * 1000) + SLOT_MARGIN_MS
    return max(slot, MAX_ORDINARY_SLOT_MS + 1) if is_long(target) else slot


def is_long(target: Target) -> bool:
    """Whether calls of a target may last for minutes: they have slots of their own, and outlive their node's shards."""
    return isinstance(target, HttpTarget) and target.read_timeout > MAX_TIMEOUT_S


def secrets_of(target: Target) -> list[str]:
    """Return the names of the secrets that a call needs."""
    return secrets_in(target.auth, target.signing, target.ca) if isinstance(target, HttpTarget) else []


def parts_naming(secret: str) -> list[dict[str, Any]]:
    """Return parts of targets as they are stored: a target that names the secret has one of them."""
    auths = ({field: secret} for field in ("token", "password", "certificate", "client_secret"))
    return [*({"auth": auth} for auth in auths), {"signing": secret}, {"ca": secret}]


def request_line(target: Target) -> str | None:
    """Return the method, host and path of a call, without its query; None for a queue, to which nothing is sent."""
    match target:
        case HttpTarget():
            return _request_line(target.method, target.url)
        case TopicTarget():
            return target.url
        case QueueTarget():
            return None


@lru_cache(maxsize=10_000)  # a node calls the same few targets again and again
def _request_line(method: str, url: str) -> str:
    parts = urlsplit(url)
    return f"{method} {parts.netloc}{parts.path or '/'}"


def queue_of(target: Target) -> str | None:
    """Return the queue of a target; None for targets that nodes push to."""
    return target.name if isinstance(target, QueueTarget) else None


def _check_limits(target: HttpTarget) -> None:
    if not 1 <= target.batch <= LARGEST_BATCH:
        raise Invalid(f"a batch is 1 to {LARGEST_BATCH} instances, not {target.batch}")
    if target.max_concurrency is not None and target.max_concurrency < 1:
        raise Invalid("max_concurrency is 1 or more")
    if target.rate is not None and not 0 < target.rate <= MAX_REQUESTS_PER_S:
        raise Invalid("a rate lies above 0 and at most at a million requests a second")
    if not 1 <= target.completion_seconds <= MAX_COMPLETION_TIMEOUT_S:
        raise Invalid("completion_seconds lies between 1 second and 7 days")


def _check_content(target: HttpTarget) -> None:
    """Refuse templates that cannot be rendered, while the author can see the message."""
    for name, value in target.headers.items():
        check_header(name, value)
    fills = [compile_text(value) for value in (*target.headers.values(), *target.query.values())]
    fills.append(compile_value(target.body))
    if target.method == "GET" and (target.body is not None or target.batch > 1):
        raise Invalid("a GET has no body: use query, or another method")
    if target.batch > 1 and (target.body is not None or any(fills)):
        raise Invalid("a batch carries whole calls: it has no body template, and no placeholders elsewhere")
