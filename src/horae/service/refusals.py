"""What went wrong below, in words for the one who asked."""

from typing import Final

from horae.domain.errors import BadRequest, Conflict, Contended, HoraeError, InFlight, Invalid, NotFound, Unavailable
from horae.store.tx import BAD_ROW, CUT, GONE, NO_ROOM, TRY_AGAIN

FINAL: Final = (NotFound, Invalid, BadRequest, Conflict)
PASSING: Final = (Contended, InFlight)


def is_final(error: HoraeError) -> bool:
    """Whether asking again later is of no use."""
    return isinstance(error, FINAL) and not isinstance(error, PASSING)


def refusal_of(error: Exception) -> HoraeError | None:
    """A refusal for an error of the database; None for what nobody expected."""
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
