"""Translates errors of lower layers into refusals for the caller."""

from typing import Final

from horae.domain.errors import BadRequest, Conflict, Contended, HoraeError, InFlight, Invalid, NotFound, Unavailable
from horae.store.tx import BAD_ROW, CUT, GONE, NO_ROOM, TRY_AGAIN

FINAL: Final = (NotFound, Invalid, BadRequest, Conflict)
PASSING: Final = (Contended, InFlight)


def is_final(error: HoraeError) -> bool:
    """Whether repeating the request later is useless."""
    return isinstance(error, FINAL) and not isinstance(error, PASSING)


def refusal_of(error: Exception) -> HoraeError | None:
    """Returns a refusal for an expected error, also of the database; None for an unexpected one."""
    match error:
        case HoraeError():
            return error
        case _ if isinstance(error, TRY_AGAIN):
            return Contended("others kept writing the same rows; nothing was changed, ask again")
        case _ if isinstance(error, CUT):
            return Unavailable("the database took too long; nothing was changed, ask again later")
        case _ if isinstance(error, GONE):
            return Unavailable("a database could not be reached; ask again, under the same Idempotency-Key")
        case _ if isinstance(error, NO_ROOM):
            return Unavailable("a database has no room left; nothing was changed, ask again later")
        case _ if isinstance(error, BAD_ROW):
            return Invalid("the database would not take a value of this request")
        case _:
            return None
