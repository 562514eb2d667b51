"""API processes: their address, limits, sessions and the login of people."""

from ipaddress import ip_network
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from horae.runtime.settings.database import CellSettings
from horae.runtime.settings.facts import (
    API,
    DsnText,
    Port,
    Seconds,
    Secrecy,
    SecretText,
    SettingsGroup,
    SettingsPart,
    Unit,
)

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]


class OidcSettings(SettingsPart):
    """The OpenID Connect issuer at which people log in."""

    issuer: str
    """The address of the issuer, exactly as it calls itself."""
    client_id: str
    """The name under which Horae is registered there."""
    client_secret: SecretText = ""
    """The secret of the registration; without one Horae is a public client, and PKCE proves its codes."""
    redirect_url: str
    """`/login/callback` of this deployment, as browsers reach it."""
    scopes: str = "openid profile email"
    """The scopes to ask for; some issuers want one more to tell groups."""
    groups_claim: str = "groups"
    """The claim of the ID token that lists a person's groups."""
    algorithms: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256")
    """The accepted signature algorithms."""


class ApiSettings(SettingsGroup):
    """API processes: where they listen, what they allow, and how people log in."""

    READ_BY: ClassVar[tuple[str, ...]] = (API,)

    api_secret: SecretText = ""
    """At least 32 characters that sign cursors and sessions. All API processes of a deployment have the same.

    Change it when it may have become known: everybody logs in again.
    """
    api_dsn: DsnText | None = Field(default=None, repr=False)
    """The address of the only database with the role `horae_api`. If neither it nor `HORAE_API_CELLS` is set, an API
    process uses `HORAE_DSN` or `HORAE_CELLS`, which production refuses unless the role is held to one tenant.

    Change it in every production: row-level security keeps tenants apart only for this role.
    """
    api_cells: Annotated[list[CellSettings], Secrecy.INSIDE] = Field(default_factory=list, repr=False)
    """The databases with the role `horae_api`, where there are several or where they are reached through PgBouncer.
    Only one of this and `HORAE_API_DSN` may be given.

    Change it when a cell is added.
    """
    api_host: str = "127.0.0.1"
    """The address that the API listens on.

    Change it to `0.0.0.0` where a proxy that speaks TLS is on another machine.
    """
    api_port: Port = 8700
    """The port that the API listens on. Several processes can share it; 0 takes a free one.

    Change it where another program has the port.
    """
    api_rate: Annotated[float, Unit("requests/s")] = Field(default=1000.0, gt=0)
    """How many requests an API process takes from one tenant each second, in the long run.

    Change it where tenants with more are welcome, or where one must leave more to the others.
    """
    api_burst: Annotated[float, Unit("requests")] = Field(default=2000.0, gt=0)
    """How many requests one tenant may send at once before its rate holds.

    Change it together with `HORAE_API_RATE`.
    """
    api_concurrency: int = Field(default=100, ge=1)
    """How many requests of one tenant an API process works on at once.

    Change it where requests wait while the database has room.
    """
    api_connections: int = Field(default=10_000, ge=10)
    """How many connections an API process has at most; one host has at most a tenth of them, or 100 if that
    is more, but never more than half.

    Change it together with the limit of open files of the process.
    """
    api_trusted_proxies: list[str] = Field(default_factory=list)
    """Networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed, as a list such as `["10.0.0.0/8"]`.

    Change it whenever a proxy stands before the API: otherwise all callers seem to be the proxy.
    """
    oidc: Annotated[OidcSettings | None, Secrecy.INSIDE] = None
    """The OpenID Connect issuer at which [people](people.md) log in.

    Change it when people are to log in with the accounts of your company instead of with keys.
    """
    session_idle: Seconds = Field(default=3600.0, ge=300)
    """How long a session of a person lasts without use.

    Change it to follow the rules of your company.
    """
    session_life: Seconds = Field(default=12 * 3600.0, ge=300)
    """How long a session of a person lasts in any case.

    Change it to follow the rules of your company.
    """
    trace_link: str | None = None
    """The address of a trace, as in `https://traces.example.com/{trace_id}`; API and console show it on an instance.

    Change it where `HORAE_TRACES` is set.
    """

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
