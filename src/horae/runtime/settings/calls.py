"""Where calls and events may go, and the secrets of the deployment that they carry."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, field_validator, model_validator

from horae.domain.errors import Invalid
from horae.domain.events.channels import check_pattern
from horae.runtime.settings.facts import (
    API,
    EVERY_PROCESS,
    NODE,
    ReadBy,
    Secrecy,
    SecretUrl,
    SettingsGroup,
    SettingsPart,
)


class EgressSettings(SettingsPart):
    """Where calls may go beside the public Internet over TLS."""

    networks: list[str] = Field(default_factory=list)
    """Networks that calls may reach beside the public Internet, such as `10.20.0.0/16`."""
    ports: list[str] = Field(default_factory=lambda: ["443", "8443"])
    """Ports and ranges that calls may use, such as `8000-8999`."""
    plain: bool = False
    """Whether calls may go over http, without TLS."""


LAPTOP: Final = EgressSettings(
    networks=["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
    ports=["1-65535"],
    plain=True,
)
"""Egress in development: the own machine and private networks."""


class BrokerSettings(SettingsPart):
    """A message broker for outgoing and incoming events. Tenants know it by its name in `HORAE_BROKERS`."""

    kind: Literal["kafka", "nats", "rabbitmq", "rocketmq"]
    """What it is."""
    url: SecretUrl = Field(repr=False)
    """Bootstrap servers of Kafka (`host:9092,…`), proxy of RocketMQ (`host:8081`), `nats://…` or `amqp://…`, these with
    user and password if needed."""
    options: Annotated[dict[str, str], Secrecy.HIDDEN] = Field(default_factory=dict, repr=False)
    """Settings of the broker's client (Kafka: librdkafka).

    RocketMQ has `access_key`, `secret_key`, `namespace`, `tls` (`true`) and `ca_file`.
    """
    topics: list[str] = Field(default_factory=lambda: ["{tenant}.*"])
    """Patterns of the topics that a tenant may use. The tenant `system` may use any. RocketMQ's names have no dot:
    there it is `["{tenant}-*"]` where none is named.
    """

    @model_validator(mode="before")
    @classmethod
    def _name_topics(cls, facts: Any) -> Any:
        usual = {"topics": ["{tenant}-*"]}
        return usual | facts if isinstance(facts, dict) and facts.get("kind") == "rocketmq" else facts

    @field_validator("topics")
    @classmethod
    def _check_topics(cls, topics: list[str]) -> list[str]:
        for pattern in topics:
            try:
                check_pattern(pattern)
            except Invalid as error:
                raise ValueError(str(error)) from error
        return topics


class CallSettings(SettingsGroup):
    """Where calls and events may go."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE, API)

    egress: EgressSettings | None = None
    """Where calls may go beside public addresses over https. By default nowhere else in production; in all other
    environments also to the own machine and to private networks, over http too.

    Change it when targets are [inside your own network](delivery.md#where-calls-may-go). Give API processes the same
    value: they warn whoever creates a job whose target the rules refuse.
    """
    secrets: Annotated[dict[str, dict[str, str]], Secrecy.HIDDEN] = Field(default_factory=dict, repr=False)
    """Values of named secrets by tenant, as `{"tenant": {"name": "value"}}`. They count where the tenant has no
    [secret](encryption.md) of that name.

    Change it where an operator, not the tenant, gives jobs their credentials.
    """
    brokers: Annotated[dict[str, BrokerSettings], Secrecy.INSIDE, ReadBy(EVERY_PROCESS)] = Field(default_factory=dict)
    """The message brokers that tenants may name, by name.

    Change it to send [events](events.md) to Kafka, NATS, RabbitMQ or RocketMQ, or to read changes of times from there.
    """
