"""The settings of a deployment. Each name is an environment variable with the prefix `HORAE_`."""

from ipaddress import ip_network
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ByteSize, Field, TypeAdapter, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from horae.domain.alerts.channels import EMAIL_ADDRESS
from horae.domain.errors import Invalid
from horae.domain.events.channels import check_pattern


class CellSettings(BaseModel):
    """One PostgreSQL cluster that holds some shards.

    - `pooled`: the DSN leads to a pooler in transaction mode (PgBouncer).
    - `direct_dsn`: for what needs its own session (LISTEN); required if `pooled`, otherwise the DSN by default.
    - `upkeep_dsn`: for upkeep that only the owner of the tables may do (VACUUM); `direct_dsn` by default.
    - `disk_bytes`: the space for its database, in bytes or as `500GiB`; `HORAE_DISK_BYTES` by default.
    """

    name: str
    dsn: str
    direct_dsn: str | None = None
    upkeep_dsn: str | None = None
    pooled: bool = False
    disk_bytes: ByteSize | None = None

    @model_validator(mode="after")
    def _sessions_pass_the_pooler(self) -> Self:
        if self.pooled and self.direct_dsn is None:
            raise ValueError("a pooled cell needs a direct_dsn: a pooler in transaction mode loses what LISTEN hears")
        return self


class EgressSettings(BaseModel):
    """Where calls may go beside the public Internet over TLS. `plain` allows calls without TLS."""

    networks: list[str] = Field(default_factory=list)
    ports: list[str] = Field(default_factory=lambda: ["443", "8443"])
    plain: bool = False


Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]


class OidcSettings(BaseModel):
    """The OpenID Connect issuer at which people log in. `algorithms` are the accepted signature algorithms."""

    issuer: str
    client_id: str
    client_secret: str = Field(default="", repr=False)
    redirect_url: str
    scopes: str = "openid profile email"
    groups_claim: str = "groups"
    algorithms: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256")


class BrokerSettings(BaseModel):
    """A message broker for outgoing and incoming events. Tenants know it by its name in `HORAE_BROKERS`.

    - `url`: bootstrap servers of Kafka (`host:9092,…`), `nats://…` or `amqp://…`, with user and password if needed.
    - `options`: settings of the broker's client (Kafka: librdkafka).
    - `topics`: patterns of the topics that a tenant may use. The tenant `system` may use any.
    """

    kind: Literal["kafka", "nats", "rabbitmq"]
    url: str = Field(repr=False)
    options: dict[str, str] = Field(default_factory=dict, repr=False)
    topics: list[str] = Field(default_factory=lambda: ["{tenant}.*"])

    @field_validator("topics")
    @classmethod
    def _check_topics(cls, topics: list[str]) -> list[str]:
        for pattern in topics:
            try:
                check_pattern(pattern)
            except Invalid as error:
                raise ValueError(str(error)) from error
        return topics


LAPTOP: Final = EgressSettings(
    networks=["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
    ports=["1-65535"],
    plain=True,
)
"""Egress in development: the own machine and private networks."""


class TransitSettings(BaseModel):
    """A key service with the transit API of Vault or OpenBao.

    `token_file` is read at every call, because another process may renew the token. `ca_file` is the PEM file of the
    authority that signed the service's certificate, if the system does not know it.
    """

    url: str
    key: str
    mount: str = "transit"
    token: str = Field(default="", repr=False)
    token_file: Path | None = None
    ca_file: Path | None = None

    def current_token(self) -> str:
        """The current token."""
        return self.token if self.token_file is None else self.token_file.read_text().strip()


URL_PATTERN: Final = r"^https?://[\x21-\x7e]+[^/]$"
"""A base address without a slash at its end."""


class SmtpSettings(BaseModel):
    """The mail server for alerts by e-mail, out of `HORAE_SMTP_HOST` and the settings beside it.

    `domains` are the domains of allowed recipients; empty: any. `ca_file` is the PEM file of the authority that signed
    the server's certificate, if the system does not know it.
    """

    host: str
    port: int
    tls: Literal["starttls", "tls", "off"]
    user: str
    password: str = Field(repr=False)
    sender: str
    domains: list[str]
    ca_file: Path | None


class Settings(BaseSettings):
    """Read from the environment: `HORAE_CELLS`, `HORAE_DSN`, `HORAE_ENVIRONMENT` and so on."""

    model_config = SettingsConfigDict(env_prefix="HORAE_", env_nested_delimiter="__", extra="ignore")

    cells: list[CellSettings] = Field(default_factory=list)
    dsn: str | None = None
    upkeep_dsn: str | None = None
    environment: Literal["production", "dev", "test"] = "production"
    database_tls: Literal["verify-full", "optional"] = "verify-full"
    tenant: str = "default"
    lease_ttl: float = 8.0
    leases: bool = True
    safety_look: float = Field(default=300.0, ge=1, le=300)
    slots: int = 2000
    grace: float = 20.0
    snapshot_limit: float | None = None
    loop_stall: float = Field(default=0.25, ge=0.01)
    egress: EgressSettings | None = None
    secrets: dict[str, dict[str, str]] = Field(default_factory=dict, repr=False)
    secrets_file: Path | None = None
    encryption: Literal["on", "off"] = "on"
    keyring: Path | None = None
    transit: TransitSettings | None = None
    api_cells: list[CellSettings] = Field(default_factory=list)
    api_dsn: str | None = None
    api_secret: str = Field(default="", repr=False)
    api_host: str = "127.0.0.1"
    api_port: int = 8700
    api_rate: float = 1000.0
    api_burst: float = 2000.0
    api_concurrency: int = 100
    api_connections: int = Field(default=10_000, ge=10)
    api_trusted_proxies: list[str] = Field(default_factory=list)
    monitoring_host: str = "127.0.0.1"
    monitoring_token: str = Field(default="", repr=False)
    node_monitoring_port: int = Field(default=8701, ge=0, le=65535)
    api_monitoring_port: int = Field(default=8702, ge=0, le=65535)
    brokers: dict[str, BrokerSettings] = Field(default_factory=dict)
    disk_bytes: ByteSize | None = None
    history_days: int = Field(default=14, ge=3, le=90)
    history_held_days: int = Field(default=7, ge=0, le=90)
    archive: str | None = None
    archive_endpoint: str | None = None
    archive_region: str = "us-east-1"
    archive_key_id: str = ""
    archive_secret: str = Field(default="", repr=False)
    archive_days: int = Field(default=90, ge=1)
    dead_letter_days: int = Field(default=90, ge=1)
    ended_job_days: int = Field(default=90, ge=1)
    audit_days: int = Field(default=180, ge=1)
    audit_anchors: Path | None = None
    audit_anchor_url: str | None = None
    audit_anchor_secret: str = Field(default="", repr=False)
    oidc: OidcSettings | None = None
    session_idle: float = Field(default=3600.0, ge=300)
    session_life: float = Field(default=12 * 3600.0, ge=300)
    smtp_host: str | None = None
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_tls: Literal["starttls", "tls", "off"] = "starttls"
    smtp_user: str = ""
    smtp_password: str = Field(default="", repr=False)
    smtp_sender: str = ""
    smtp_domains: list[str] = Field(default_factory=list)
    smtp_ca_file: Path | None = None
    service_level: float = Field(default=0.999, ge=0.5, lt=1)
    heartbeat_url: str | None = None
    heartbeat_secret: str = Field(default="", repr=False)
    heartbeat_interval: float = Field(default=30.0, ge=1, le=3600)
    traces: str | None = None
    traces_sampled: float = Field(default=0.01, ge=0, le=1)
    trace_link: str | None = None
    console_url: str | None = Field(default=None, pattern=URL_PATTERN)
    runbook_url: str | None = Field(default=None, pattern=URL_PATTERN)
    log_json: bool | None = None
    log_level: str = "INFO"

    @model_validator(mode="after")
    def _leases_stay_on(self) -> Self:
        if not self.leases and self.environment == "production":
            raise ValueError("leases can only be switched off in test and dev: every node would do all the work")
        return self

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.smtp_host is not None and not EMAIL_ADDRESS.fullmatch(self.smtp_sender):
            raise ValueError("a mail server needs HORAE_SMTP_SENDER, a plain address such as horae@example.com")
        if self.smtp_tls == "off" and self.smtp_password:
            raise ValueError("HORAE_SMTP_TLS=off would send HORAE_SMTP_PASSWORD readable for everyone on the way")
        return self

    @field_validator("traces")
    @classmethod
    def _collector_has_a_url(cls, given: str | None) -> str | None:
        if given in (None, "", "off"):
            return None
        if not given.startswith(("http://", "https://")):
            raise ValueError("give the URL of a collector, as in http://127.0.0.1:4318/v1/traces, or `off`")
        return given

    @field_validator("trace_link")
    @classmethod
    def _link_has_a_place(cls, given: str | None) -> str | None:
        if given and "{trace_id}" not in given:
            raise ValueError("it must contain {trace_id}, which the id of a trace replaces")
        return given or None

    @field_validator("api_trusted_proxies")
    @classmethod
    def _proxies_are_networks(cls, given: list[str]) -> list[str]:
        return [str(ip_network(one)) for one in given]

    def logs_json(self) -> bool:
        """Whether logs are JSON: what `HORAE_LOG_JSON` says, else everywhere but in `dev`."""
        return self.environment != "dev" if self.log_json is None else self.log_json

    def all_egress(self) -> EgressSettings:
        """`HORAE_EGRESS`. By default only the public Internet over TLS; in test and dev also private networks."""
        return self.egress or (EgressSettings() if self.environment == "production" else LAPTOP)

    def smtp(self) -> SmtpSettings | None:
        """The mail server for alerts; None where `HORAE_SMTP_HOST` is not set."""
        if self.smtp_host is None:
            return None
        return SmtpSettings(
            host=self.smtp_host,
            port=self.smtp_port,
            tls=self.smtp_tls,
            user=self.smtp_user,
            password=self.smtp_password,
            sender=self.smtp_sender,
            domains=self.smtp_domains,
            ca_file=self.smtp_ca_file,
        )

    def all_cells(self) -> list[CellSettings]:
        """The cells of `HORAE_CELLS`, or the single cell of `HORAE_DSN` and `HORAE_UPKEEP_DSN`."""
        if self.cells:
            return self.cells
        return [CellSettings(name="cell-0", dsn=self.dsn, upkeep_dsn=self.upkeep_dsn)] if self.dsn else []

    def disks(self) -> dict[str, int]:
        """The space of each cell, where it is known."""
        known = {cell.name: cell.disk_bytes or self.disk_bytes for cell in self.all_cells()}
        return {name: int(size) for name, size in known.items() if size is not None}

    def api_server_cells(self) -> list[CellSettings]:
        """The cells for API processes: `HORAE_API_CELLS` or `HORAE_API_DSN`, with the role `horae_api`.

        If neither is set, the cells of `all_cells`.
        """
        return self.api_cells_given() or self.all_cells()

    def api_cells_given(self) -> list[CellSettings]:
        """The cells of `HORAE_API_CELLS` or `HORAE_API_DSN`; empty if neither is set."""
        if self.api_cells or self.api_dsn is None:
            return self.api_cells
        return [CellSettings(name="cell-0", dsn=self.api_dsn)]

    def all_secrets(self) -> dict[str, dict[str, str]]:
        """The values of named secrets by tenant: from `HORAE_SECRETS_FILE`, overridden by `HORAE_SECRETS`."""
        found: dict[str, dict[str, str]] = {}
        if self.secrets_file is not None:
            found = TypeAdapter(dict[str, dict[str, str]]).validate_json(self.secrets_file.read_bytes())
        return {tenant: found.get(tenant, {}) | self.secrets.get(tenant, {}) for tenant in found | self.secrets}
