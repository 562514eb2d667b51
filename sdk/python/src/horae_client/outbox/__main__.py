"""Runs a relay as a process: `python -m horae_client.outbox postgresql://…` or `mysql://…`, until SIGTERM.

`HORAE_URL` is the address of the API, `HORAE_KEY` is the key for it.
"""

import logging
import signal
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from horae_client.outbox.relay import Relay


def connecting(dsn: str) -> Callable[[], Any]:
    """A function that connects to the database with this address."""
    parts = urlsplit(dsn)
    if parts.scheme.startswith("postgres"):
        import psycopg  # noqa: PLC0415 - whichever is needed

        return lambda: psycopg.connect(dsn)
    if parts.scheme in {"mysql", "mariadb"}:
        import pymysql  # noqa: PLC0415

        return lambda: pymysql.connect(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=parts.path.lstrip("/"),
            charset="utf8mb4",
        )
    raise SystemExit(f"{parts.scheme}: a relay reads postgresql://… or mysql://…")


def main() -> None:
    """Forward rows until a signal ends it."""
    logging.basicConfig(level=logging.INFO)
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    relay = Relay(connecting(sys.argv[1]))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: relay.end())
    relay.run()


if __name__ == "__main__":
    main()
