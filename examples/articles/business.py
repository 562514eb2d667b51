"""The state machine of an article. Each step is one conditional UPDATE: from one state to the next, or not at all.

    PENDING_AUDIT --audit--> AUDIT_SUCCESS --publish--> PUBLISHED
                  \\-------> AUDIT_FAIL

When to try is Horae's business; whether it takes effect is decided here. A step that comes twice changes nothing.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from psycopg import Connection

from .database import Database


class Status(StrEnum):
    """Where an article stands."""

    PENDING_AUDIT = "PENDING_AUDIT"
    AUDIT_SUCCESS = "AUDIT_SUCCESS"
    AUDIT_FAIL = "AUDIT_FAIL"
    PUBLISHED = "PUBLISHED"


class Wanted(NamedTuple):
    """When an article should be published, and the how manieth wish that is. `audited`: its audit succeeded already."""

    id: str
    publish_time: datetime
    version: int
    audited: bool = False


Auditing = Callable[[str, str], bool]
"""Asks the third party about a title and a text: whether it may be published. May be slow, may raise."""


def submit(connection: Connection, title: str, body: str, publish_time: datetime) -> Wanted:
    """A new article, to be audited."""
    said = "insert into article (title, body, publish_time) values (%s, %s, %s) returning id, publish_time, version"
    return Wanted(*connection.execute(said, (title, body, publish_time)).fetchone())


def change_time(connection: Connection, article: str, publish_time: datetime) -> Wanted | None:
    """Its author thinks again. None: it is published, or will never be, and there is nothing left to change."""
    said = """update article set publish_time = %s, version = version + 1
              where id = %s and status in ('PENDING_AUDIT', 'AUDIT_SUCCESS')
              returning id, publish_time, version, status = 'AUDIT_SUCCESS'"""
    found = connection.execute(said, (publish_time, article)).fetchone()
    return None if found is None else Wanted(*found)


def status(connection: Connection, article: str) -> Status | None:
    """Where it stands; None: there is no such article."""
    found = connection.execute("select status from article where id = %s", (article,)).fetchone()
    return None if found is None else Status(found[0])


def audit(database: Database, article: str, ask: Auditing) -> Status | None:
    """Have an article audited, and return where it stands. None: there is no such article.

    The third party is asked outside of any transaction, and about pending articles only. Whoever finished first has
    decided: the second write finds an article that is no longer pending.
    """
    with database.transaction() as connection:
        said = "select title, body from article where id = %s and status = 'PENDING_AUDIT'"
        found = connection.execute(said, (article,)).fetchone()
        if found is None:
            return status(connection, article)
    verdict = Status.AUDIT_SUCCESS if ask(*found) else Status.AUDIT_FAIL
    with database.transaction() as connection:
        said = """update article set status = %s, audited_at = clock_timestamp()
                  where id = %s and status = 'PENDING_AUDIT'"""
        connection.execute(said, (verdict, article))
    return verdict


def publish(connection: Connection, article: str) -> Status | None:
    """AUDIT_SUCCESS -> PUBLISHED, once; returns where the article stands afterwards."""
    said = "update article set status = 'PUBLISHED' where id = %s and status = 'AUDIT_SUCCESS'"
    if connection.execute(said, (article,)).rowcount == 0:
        return status(connection, article)
    connection.execute("insert into feed (article_id) values (%s)", (article,))
    return Status.PUBLISHED


def pending(connection: Connection, states: list[Status], after: str, limit: int) -> list[Wanted]:
    """A page of the articles in these states, in the order of their ids."""
    said = """select id, publish_time, version from article
              where status in ('PENDING_AUDIT', 'AUDIT_SUCCESS') and status = any(%s) and id > %s
              order by id limit %s"""
    return [Wanted(*row) for row in connection.execute(said, (list(states), after, limit))]
