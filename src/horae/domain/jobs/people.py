"""The people of a job: who owns it, what it is for, whom its alerts reach, and when they fire."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from horae.domain.errors import Invalid

LONGEST_DESCRIPTION: Final = 2000
LONGEST_OWNER: Final = 128
LONGEST_RUNBOOK: Final = 2000
MOST_CONTACTS: Final = 8
MAX_LATE_AFTER_S: Final = 366 * 86_400
MAX_FAIL_AFTER: Final = 1000
CONTACT_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
"""The name of an alert channel."""
RUNBOOK_PATTERN: Final = r"^https://[\x21-\x7e]+$"
CONTACT: Final = re.compile(CONTACT_PATTERN)
RUNBOOK: Final = re.compile(RUNBOOK_PATTERN)
UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters other than tab and line feed."""


def check_texts(description: str | None, owner: str | None, runbook: str | None) -> None:
    """Refuse texts that are too long or cannot be shown, and a runbook that is not a plain https URL."""
    if description is not None and (len(description) > LONGEST_DESCRIPTION or UNPRINTABLE.search(description)):
        raise Invalid(f"a description is at most {LONGEST_DESCRIPTION} characters, without control characters")
    if owner is not None and (not 0 < len(owner) <= LONGEST_OWNER or not owner.isprintable() or owner != owner.strip()):
        raise Invalid(f"an owner is 1 to {LONGEST_OWNER} printable characters, without spaces at the ends")
    if runbook is not None and not _is_https_url(runbook):
        raise Invalid(f"a runbook is an https URL of at most {LONGEST_RUNBOOK} characters, without user and password")


def check_contacts(contacts: Sequence[str]) -> None:
    """Refuse too many contacts, a contact that is named twice, and one that cannot be the name of an alert channel."""
    if len(contacts) > MOST_CONTACTS or len(set(contacts)) < len(contacts):
        raise Invalid(f"contacts are at most {MOST_CONTACTS} names of alert channels, each of them once")
    for one in contacts:
        if not CONTACT.fullmatch(one):
            raise Invalid(f"a contact is the name of an alert channel: letters, digits and '.', '_', '-', not {one!r}")


def check_alert_limits(late_after: int | None, fail_after: int | None) -> None:
    """Refuse a limit that is out of range."""
    if late_after is not None and not 1 <= late_after <= MAX_LATE_AFTER_S:
        raise Invalid(f"late_after is 1 to {MAX_LATE_AFTER_S} whole seconds")
    if fail_after is not None and not 1 <= fail_after <= MAX_FAIL_AFTER:
        raise Invalid(f"fail_after is 1 to {MAX_FAIL_AFTER} failed runs in a row")


def _is_https_url(text: str) -> bool:
    if len(text) > LONGEST_RUNBOOK or not RUNBOOK.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:
        return False
