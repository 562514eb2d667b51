"""What a DSN says about its way, and that a verified certificate is verified."""

import os
import pwd
import ssl

import asyncpg
import pytest

from horae.domain.errors import Invalid
from horae.store.cells import Cell
from horae.store.connections.transports import transport_of
from tests.cluster import running_server
from tests.delivery.certificates import Authority
from tests.memory import quick_folder


@pytest.fixture
def clean(monkeypatch):
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("dsn", "hosts", "sslmode"),
    [
        ("postgresql://horae@db.example.com/horae", ("db.example.com",), "prefer"),
        ("postgresql://horae@db.example.com/horae?sslmode=require", ("db.example.com",), "require"),
        ("postgresql://horae@a.example.com,b.example.com:5433/horae", ("a.example.com", "b.example.com"), "prefer"),
        ("postgresql://horae@/horae?host=10.0.0.7", ("10.0.0.7",), "prefer"),
        ("postgresql://horae@/horae?host=/run/pg", ("/run/pg/.s.PGSQL.5432",), "disable"),
    ],
)
def test_a_dsn_is_read_as_the_driver_reads_it(clean, dsn, hosts, sslmode):
    assert transport_of(dsn) == (hosts, sslmode)


def test_what_the_driver_takes_from_the_environment_counts(clean, monkeypatch):
    monkeypatch.setenv("PGHOST", "db.example.com")
    assert transport_of("postgresql:///horae").hosts == ("db.example.com",)
    monkeypatch.setenv("PGSSLMODE", "disable")
    assert transport_of("postgresql:///horae").sslmode == "disable"


@pytest.mark.parametrize(
    "dsn", ["mysql://s3cret@db/x", "postgresql://a:s3cret@db:s3cret/x", "postgresql://a:s3cret@db/x?sslmode=never"]
)
def test_a_dsn_that_cannot_be_used_is_refused_without_its_secret(clean, dsn):
    with pytest.raises(Invalid) as refused:
        transport_of(dsn)
    assert "s3cret" not in str(refused.value)


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A PostgreSQL that speaks TLS as `localhost`: its port, and the file of its authority."""
    authority = Authority(tmp_path_factory.mktemp("authority"), "databases")
    authority.issue("server", "DNS:localhost")
    with quick_folder("horae-tls") as folder:
        for kind in ("pem", "key"):
            file = folder / f"server.{kind}"
            file.write_text((authority.folder / f"server.{kind}").read_text())
            file.chmod(0o600)
            if os.getuid() == 0:
                user = pwd.getpwnam("postgres")
                os.chown(file, user.pw_uid, user.pw_gid)
        settings = {
            "ssl": "on",
            "ssl_cert_file": str(folder / "server.pem"),
            "ssl_key_file": str(folder / "server.key"),
            "listen_addresses": "localhost",
            "fsync": "off",
        }
        with running_server(folder, settings) as port:
            yield port, authority.folder / "databases.pem"


async def test_a_verified_certificate_is_verified(secured, tmp_path):
    port, authority = secured
    stranger = Authority(tmp_path, "stranger").folder / "stranger.pem"

    async def encrypted(host, root):
        cell = Cell("x", f"postgresql://postgres@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={root}")
        async with cell.direct() as connection:
            return await connection.fetchval("select ssl from pg_stat_ssl where pid = pg_backend_pid()")

    assert await encrypted("localhost", authority)
    for host, root in (("127.0.0.1", authority), ("localhost", stranger)):
        with pytest.raises((ssl.SSLCertVerificationError, asyncpg.PostgresError)):
            await encrypted(host, root)
