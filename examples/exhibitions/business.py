"""What an exhibition may do. Every function runs in the transaction of the connection it is given.

    PENDING --approve--> APPROVED --start_enrolling, at its hour--> ENROLLING

Each step is one conditional UPDATE: whoever comes twice, or too late, changes nothing.
"""

from datetime import datetime

from psycopg import Connection

from horae_client import outbox

START_ENROLLING = "EXHIBITION_START_ENROLLING"
NOTIFY_RESERVATIONS = "EXHIBITION_NOTIFY_RESERVATIONS"


def propose(connection: Connection, title: str, registration_start: datetime) -> int:
    """A new exhibition, to be approved by somebody; returns its id."""
    said = "insert into exhibition (title, registration_start) values (%s, %s) returning id"
    [id_] = connection.execute(said, (title, registration_start)).fetchone()
    return id_


def reserve(connection: Connection, exhibition: int, visitor: str) -> None:
    """A visitor would like to hear when the enrolment opens."""
    said = "insert into reservation (exhibition_id, visitor) values (%s, %s) on conflict do nothing"
    connection.execute(said, (exhibition, visitor))


def approve(connection: Connection, exhibition: int) -> datetime | None:
    """Approve it, and have its enrolment start at its hour: both or neither. None: it was not waiting for approval.

    `outbox.add` writes a row beside ours. No call leaves the transaction, so a scheduler that is away holds up nobody.
    """
    said = "update exhibition set status = 'APPROVED' where id = %s and status = 'PENDING' returning registration_start"
    found = connection.execute(said, (exhibition,)).fetchone()
    if found is None:
        return None
    outbox.add(connection, START_ENROLLING, str(exhibition), at=found[0])  # a time in the future
    return found[0]


def start_enrolling(connection: Connection, exhibition: int) -> bool:
    """The hour has come. In the same transaction comes a task without a time: that one is due now."""
    said = """update exhibition set status = 'ENROLLING', enrolling_since = clock_timestamp()
              where id = %s and status = 'APPROVED'"""
    if connection.execute(said, (exhibition,)).rowcount == 0:
        return False
    outbox.add(connection, NOTIFY_RESERVATIONS, str(exhibition))
    return True


def notify_reservations(connection: Connection, exhibition: int) -> int:
    """Tell everyone who reserved and was not told; returns how many that were. A real one would send mail here."""
    said = "update reservation set notified_at = clock_timestamp() where exhibition_id = %s and notified_at is null"
    return connection.execute(said, (exhibition,)).rowcount
