"""Names that must fit into a row."""

from hashlib import sha256
from typing import Final

DIGEST_CHARACTERS: Final = 32


def fitted(name: str, max_characters: int) -> str:
    """A name of at most so many characters: one that is longer is cut, and stays different from all others."""
    if len(name) <= max_characters:
        return name
    digest = sha256(name.encode()).hexdigest()[:DIGEST_CHARACTERS]
    return f"{name[: max_characters - DIGEST_CHARACTERS - 1]}…{digest}"
