"""Twenty exhibitions are approved at once; at their hour all of them open: `make demo-exhibitions`."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
from rich.console import Console
from rich.live import Live
from rich.table import Table

from laptop import SECRET, free_port, laptop, service

MANY, RESERVATIONS, AHEAD = 20, 3, timedelta(seconds=15)
LOOK = """
    select e.id, e.title, e.status, e.registration_start, e.enrolling_since,
           count(r.notified_at) as notified, count(r.visitor) as reserved
    from exhibition e left join reservation r on r.exhibition_id = e.id group by e.id order by e.id"""


def picture(rows: list[tuple], hour: datetime) -> Table:
    """How it stands now."""
    left = (hour - datetime.now(UTC)).total_seconds()
    when = f"opens in {left:.0f} s" if left > 0 else "the hour has come"
    table = Table("", "exhibition", "status", "late by", "notified", title=f"Exhibitions · {when}")
    for id_, title, status, starts, since, notified, reserved in rows:
        late = "" if since is None else f"{(since - starts) / timedelta(milliseconds=1):.0f} ms"
        colour = {"PENDING": "dim", "APPROVED": "yellow", "ENROLLING": "green"}[status]
        table.add_row(str(id_), title, f"[{colour}]{status}", late, f"{notified}/{reserved}")
    return table


def main() -> None:
    """From nothing to twenty open exhibitions."""
    with ExitStack() as stack:
        horae = stack.enter_context(laptop())
        dsn, port = horae.database("exhibitions"), free_port()
        env = {"EXHIBITIONS_DSN": dsn, "EXHIBITIONS_URL": f"http://127.0.0.1:{port}", "EXHIBITIONS_SECRET": SECRET}
        url = stack.enter_context(service("exhibitions.web", env | horae.env, port))
        people = stack.enter_context(httpx2.Client(base_url=url))
        connection = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        hour = datetime.now(UTC).replace(microsecond=0) + AHEAD
        ids = [_proposed(people, number, hour) for number in range(MANY)]
        with ThreadPoolExecutor(MANY) as at_once:
            list(at_once.map(lambda id_: people.post(f"/exhibitions/{id_}/approve").raise_for_status(), ids))
        with Live(console=Console(), refresh_per_second=8) as live:
            while True:
                rows = connection.execute(LOOK).fetchall()
                live.update(picture(rows, hour))
                if all(row[5] == row[6] for row in rows):
                    break
                time.sleep(0.1)


def _proposed(people: httpx2.Client, number: int, hour: datetime) -> int:
    said = {"title": f"Hall {number + 1}", "registration_start": hour.isoformat()}
    id_ = people.post("/exhibitions", json=said).raise_for_status().json()["id"]
    for visitor in range(RESERVATIONS):
        people.post(f"/exhibitions/{id_}/reservations/visitor-{visitor}").raise_for_status()
    return id_


if __name__ == "__main__":
    main()
