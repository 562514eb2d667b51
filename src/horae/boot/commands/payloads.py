"""Payloads that a user types."""

import msgspec

from horae.domain.errors import Invalid


def json_of(text: str | None) -> object:
    """Parse a payload; None where none was typed."""
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Invalid(f"the payload is not JSON: {error}") from error
