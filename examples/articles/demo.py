"""Articles are submitted, audited and published while their authors change their minds: `make demo-articles`."""

import random
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
from rich.console import Console
from rich.live import Live
from rich.table import Table

from articles import business
from laptop import SECRET, free_port, laptop, service

MANY = 20
COLOURS = {"PENDING_AUDIT": "dim", "AUDIT_SUCCESS": "yellow", "AUDIT_FAIL": "red", "PUBLISHED": "green"}
LOOK = """
    select title, status, version, publish_time, audited_at, published_at
    from article left join feed on article_id = id order by submitted_at"""


class Author(threading.Thread):
    """Submits an article, and thinks again once or twice."""

    def __init__(self, people: httpx2.Client, number: int) -> None:
        super().__init__(daemon=True)
        self.people = people
        self.title = f"Article {number}"
        self.body = "forbidden" if number % 9 == 8 else "fine"
        self.words = ""

    def run(self) -> None:
        said = {"title": self.title, "body": self.body, "publish_time": _soon()}
        told = self.people.post("/articles", json=said).raise_for_status().json()
        self.words = told["decision"]
        for _ in range(random.randrange(3)):
            time.sleep(random.uniform(1, 15))
            answer = self.people.put(f"/articles/{told['id']}/publish-time", json={"publish_time": _soon()})
            self.words += ", " + (answer.json()["decision"] if answer.is_success else "too late")


def _soon() -> str:
    return (datetime.now(UTC) + timedelta(seconds=random.uniform(3, 15))).isoformat()


def picture(rows: list[tuple], words: dict[str, str]) -> Table:
    """How it stands now."""
    table = Table("article", "status", "publish time", "version", "its author heard", "late by", title="Articles")
    for title, status, version, at, audited, published in rows:
        late = "" if published is None else f"{(published - max(at, audited)) / timedelta(milliseconds=1):.0f} ms"
        heard = words.get(title, "nothing: the service died; the source finds it")
        table.add_row(title, f"[{COLOURS[status]}]{status}", f"{at:%H:%M:%S}", str(version), heard, late)
    return table


def main() -> None:
    """From nothing to twenty articles that are published or rejected, and one that Horae was never told of."""
    with ExitStack() as stack:
        horae = stack.enter_context(laptop())
        dsn, port = horae.database("articles"), free_port()
        auditor = stack.enter_context(service("articles.auditor", {"AUDITOR_FAILS": "0.2"}, free_port()))
        env = {"ARTICLES_DSN": dsn, "ARTICLES_URL": f"http://127.0.0.1:{port}", "ARTICLES_SECRET": SECRET}
        url = stack.enter_context(service("articles.web", env | horae.env | {"AUDITOR_URL": auditor}, port))
        people = stack.enter_context(httpx2.Client(base_url=url, timeout=30))
        connection = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        business.submit(connection, "Lost", "fine", datetime.now(UTC) + timedelta(seconds=3))
        authors = [Author(people, number + 1) for number in range(MANY)]
        for author in authors:
            author.start()
        with Live(console=Console(), refresh_per_second=8) as live:
            while True:
                rows = connection.execute(LOOK).fetchall()
                live.update(picture(rows, {author.title: author.words for author in authors}))
                going = any(author.is_alive() for author in authors)
                if not going and all(row[1] in {"AUDIT_FAIL", "PUBLISHED"} for row in rows):
                    break
                time.sleep(0.1)


if __name__ == "__main__":
    main()
