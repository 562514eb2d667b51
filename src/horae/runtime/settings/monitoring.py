"""How a deployment is watched: probes, metrics, heartbeats, traces, links in alerts, and logs."""

from typing import Annotated, ClassVar, Final

from pydantic import Field, field_validator

from horae.runtime.settings.facts import (
    API,
    COMMANDS,
    EVERY_PROCESS,
    NODE,
    Port,
    ReadBy,
    Seconds,
    SecretText,
    SecretUrl,
    SettingsGroup,
)

URL_PATTERN: Final = r"^https?://[\x21-\x7e]+[^/]$"
"""A base address without a slash at its end."""


class MonitoringSettings(SettingsGroup):
    """Probes, metrics, heartbeats, traces and logs. [Running it](operations.md) explains them."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE, API)

    monitoring_host: str = "127.0.0.1"
    """The address of the listener for probes and metrics.

    Change it where Prometheus or the probes of Kubernetes come from outside of the machine or container.
    """
    node_monitoring_port: Annotated[Port, ReadBy((NODE,))] = 8701
    """The port of a node's listener; 0: no listener.

    Change it for a second node on one machine.
    """
    api_monitoring_port: Annotated[Port, ReadBy((API,))] = 8702
    """The port of an API process's listener; 0: no listener.

    Change it for a second API process on one machine.
    """
    monitoring_token: SecretText = ""
    """The bearer token that `/metrics` wants, where it is set; probes want none.

    Change it where others can reach the listener.
    """
    service_level: Annotated[float, ReadBy((NODE, API, COMMANDS))] = Field(default=0.999, ge=0.5, lt=1)
    """The [service level objective](service-level.md): the part of all due times that is to be in time.

    Change it to what you have promised. All processes have the same.
    """
    heartbeat_url: Annotated[SecretUrl | None, ReadBy((NODE,))] = Field(default=None, repr=False)
    """Where nodes send a heartbeat, to an outside service that notices silence. The rules of `HORAE_EGRESS` hold.

    Change it in every production: nobody inside can tell that everything inside is silent.
    """
    heartbeat_secret: Annotated[SecretText, ReadBy((NODE,))] = ""
    """A secret `whsec_…` that signs heartbeats as Standard Webhooks are signed.

    Change it where the outside service verifies signatures.
    """
    heartbeat_interval: Annotated[Seconds, ReadBy((NODE,))] = Field(default=30.0, ge=1, le=3600)
    """The time between two heartbeats.

    Change it to what the outside service expects.
    """
    traces: str | None = None
    """The URL of an OpenTelemetry collector, as in `http://127.0.0.1:4318/v1/traces`, or `off`. It needs
    `pip install 'horae[traces]'`.

    Change it to see fires and attempts in your tracing system.
    """
    traces_sampled: float = Field(default=0.01, ge=0, le=1)
    """The part of all fires that is traced.

    Change it where the collector takes more, or must take less.
    """
    console_url: Annotated[str | None, ReadBy((NODE,))] = Field(default=None, pattern=URL_PATTERN)
    """The address of the console that people use, such as `https://horae.example.com/console`.

    Change it to have messages of alerts link to the alert.
    """
    runbook_url: Annotated[str | None, ReadBy((NODE,))] = Field(default=None, pattern=URL_PATTERN)
    """Where people read the folder `docs`, such as `https://git.example.com/horae/blob/main/docs`.

    Change it to have messages of alerts link to the [runbook](runbooks/index.md) of their kind.
    """
    log_json: Annotated[bool | None, ReadBy(EVERY_PROCESS)] = None
    """Whether logs are JSON, one object for each line. Not set: everywhere but in `dev`.

    Change it where a person reads the log, or where `dev` runs under a log collector.
    """
    log_level: Annotated[str, ReadBy(EVERY_PROCESS)] = "INFO"
    """The least level of what is logged: `DEBUG`, `INFO`, `WARNING` or `ERROR`.

    Change it to `WARNING` where the log costs money, never higher.
    """

    @field_validator("traces")
    @classmethod
    def _collector_has_a_url(cls, given: str | None) -> str | None:
        if given in (None, "", "off"):
            return None
        if not given.startswith(("http://", "https://")):
            raise ValueError("give the URL of a collector, as in http://127.0.0.1:4318/v1/traces, or `off`")
        return given
