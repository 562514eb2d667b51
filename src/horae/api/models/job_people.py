"""Models of the people of a job, and of the limits for its alerts."""

from typing import Annotated, Any, Final

from pydantic import Field, StrictInt, StrictStr

from horae.api.models.base import RequestModel
from horae.domain.jobs.jobs import Definition
from horae.domain.jobs.people import (
    CONTACT_PATTERN,
    LONGEST_DESCRIPTION,
    LONGEST_OWNER,
    LONGEST_RUNBOOK,
    MAX_FAIL_AFTER,
    MAX_LATE_AFTER_S,
    MOST_CONTACTS,
    RUNBOOK_PATTERN,
)

Description = Annotated[StrictStr, Field(max_length=LONGEST_DESCRIPTION)]
Owner = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_OWNER)]
Runbook = Annotated[StrictStr, Field(max_length=LONGEST_RUNBOOK, pattern=RUNBOOK_PATTERN)]
Contact = Annotated[StrictStr, Field(pattern=CONTACT_PATTERN)]
DESCRIPTION: Final = "What the job is for."
OWNER: Final = "The team or person who owns the job."
RUNBOOK: Final = "An https URL: what to do when the job fails."
CONTACTS: Final = "The alert channels that the alerts of the job go to."
LATE_AFTER: Final = "Seconds after the fire time without a first attempt, after which the job is late."
FAIL_AFTER: Final = "Number of failed runs in a row, after which the job is failing."


class PeopleSpec(RequestModel):
    """The fields of a job for people and alerts. Fires do not depend on them."""

    description: Description | None = Field(None, description=DESCRIPTION)
    owner: Owner | None = Field(None, description=OWNER, examples=["orders-team"])
    runbook: Runbook | None = Field(None, description=RUNBOOK, examples=["https://wiki.example.com/orders"])
    contacts: Annotated[list[Contact], Field(max_length=MOST_CONTACTS)] | None = Field(
        None, description=CONTACTS, examples=[["orders-oncall"]]
    )
    late_after: Annotated[StrictInt, Field(ge=1, le=MAX_LATE_AFTER_S)] | None = Field(None, description=LATE_AFTER)
    fail_after: Annotated[StrictInt, Field(ge=1, le=MAX_FAIL_AFTER)] | None = Field(None, description=FAIL_AFTER)


def people_fields(made: Definition) -> dict[str, Any]:
    """Returns the same fields of a stored definition."""
    return {name: getattr(made, name) for name in PeopleSpec.model_fields} | {"contacts": list(made.contacts)}
