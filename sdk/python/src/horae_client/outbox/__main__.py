"""A relay in a process of its own: `python -m horae_client.outbox postgresql://… ` or `mysql://…`, until SIGTERM.

Where the API is and with which key it is asked say `HORAE_URL` and `HORAE_KEY`.
"""

import logging
import signal
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from horae_client.outbox.relay import Relay


def connecting(dsn: str) -> Callable[[], Any]:
    """Makes connections to a database by its address."""
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
    """Forward until told to end."""
    logging.basicConfig(level=logging.INFO)
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    relay = Relay(connecting(sys.argv[1]))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: relay.end())
    relay.run()


if __name__ == "__main__":
    main()
