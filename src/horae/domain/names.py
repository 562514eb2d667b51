"""Names: how long one may be, and names that must fit into a row."""

from hashlib import sha256
from typing import Final

LONGEST_NAME: Final = 120
"""Characters of the name of a job, queue, calendar, quota, channel or API key."""
DIGEST_CHARACTERS: Final = 32


def fit_length(name: str, max_characters: int) -> str:
    """Return a name of at most `max_characters`: a longer one is cut and gets a digest, so that it stays unique."""
    if len(name) <= max_characters:
        return name
    digest = sha256(name.encode()).hexdigest()[:DIGEST_CHARACTERS]
    return f"{name[: max_characters - DIGEST_CHARACTERS - 1]}…{digest}"
