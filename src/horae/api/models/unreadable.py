"""The field that marks an item with parts that cannot be decrypted or read. The other fields are filled in."""

from typing import Annotated

from pydantic import Field

Unreadable = Annotated[
    str | None,
    Field(
        description="The error code (`SCH_409_UNOPENABLE`, `SCH_503_KEYS`) if encrypted parts could not be decrypted "
        "and are left out, or `SCH_503_RELEASE` if a newer release wrote parts of the definition, which have default "
        "values here; normally null. Do not write such an item back."
    ),
]
