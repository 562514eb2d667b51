"""The addresses of one database for its roles, out of one address without a role."""

from urllib.parse import SplitResult, quote, urlsplit

from horae.domain.errors import Invalid
from horae.store.connections.transports import transport_of

EXAMPLE = "postgresql://db.example.com:5432/horae?sslmode=verify-full"


class DatabaseAddress:
    """Where a database is. It has no role and no password: each role gets its own DSN from it."""

    def __init__(self, given: str) -> None:
        parts = urlsplit(given)
        database = parts.path.removeprefix("/")
        if parts.scheme not in {"postgresql", "postgres"} or not database:
            raise Invalid(f"--server is the address of the database, as in {EXAMPLE}")
        if parts.username or parts.password:
            raise Invalid(f"--server names no account and no password, as in {EXAMPLE}; --admin names the account")
        self.database = database
        self._parts = parts
        self.transport = transport_of(self.dsn("horae_engine"))

    @property
    def host(self) -> str:
        """The host and port, as people write them."""
        return self._parts.netloc or ", ".join(self.transport.hosts)

    def dsn(self, role: str, password: str | None = None, database: str | None = None) -> str:
        """The DSN of a role, in this database or in another one of the same server."""
        account = quote(role, safe="") + ("" if password is None else f":{quote(password, safe='')}")
        path = f"/{database or self.database}"
        return SplitResult("postgresql", f"{account}@{self._parts.netloc}", path, self._parts.query, "").geturl()
