"""The mark of an item whose encrypted parts cannot be decrypted: the rest of it is shown."""

from typing import Annotated

from pydantic import Field

Unreadable = Annotated[
    str | None,
    Field(
        description="The code of the refusal (`SCH_409_UNOPENABLE`, `SCH_503_KEYS`) where encrypted parts could not be "
        "decrypted and are left out; null as a rule. Do not write such an item back."
    ),
]
