"""`horae job people`: who owns a job, whom its alerts reach, and when they fire."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from horae.boot.commands.job_lines import answer_job
from horae.boot.commands.job_refs import JobRef
from horae.boot.remote import remote
from horae_client import keys
from horae_client.asked import jobs as asked

Description = Annotated[str | None, typer.Option(help="What the job is for.")]
Owner = Annotated[str | None, typer.Option(help="The team or person who owns it.")]
Runbook = Annotated[str | None, typer.Option(help="An https URL: what to do when it fails.")]
Contacts = Annotated[
    list[str] | None, typer.Option(help="An alert channel for its alerts; give the option once for each.")
]
LateAfter = Annotated[
    int | None, typer.Option(help="It is late this many seconds after its fire time without a first attempt.")
]
FailAfter = Annotated[int | None, typer.Option(help="It is failing after this many failed runs in a row.")]


class PeopleField(StrEnum):
    """A field that can be cleared."""

    DESCRIPTION = "description"
    OWNER = "owner"
    RUNBOOK = "runbook"
    CONTACTS = "contacts"
    LATE_AFTER = "late_after"
    FAIL_AFTER = "fail_after"


async def people(
    job: JobRef,
    description: Description = None,
    owner: Owner = None,
    runbook: Runbook = None,
    contact: Contacts = None,
    late_after: LateAfter = None,
    fail_after: FailAfter = None,
    clear: Annotated[list[PeopleField] | None, typer.Option(help="Clear this field.")] = None,
) -> None:
    """Set the owner, contacts and alert limits of a job; fields that are not named are kept."""
    changes = people_said(description, owner, runbook, contact, late_after, fail_after)
    changes |= {field.value: None for field in clear or ()}
    if not changes:
        raise typer.BadParameter("say what to set, or what to --clear")
    async with remote() as api:
        await answer_job(api, await api.ask(asked.people(job, changes, keys.made())))


def people_said(
    description: str | None,
    owner: str | None,
    runbook: str | None,
    contacts: list[str] | None,
    late_after: int | None,
    fail_after: int | None,
) -> dict[str, Any]:
    """The fields that the options name, in the words of the API."""
    said = {
        "description": description,
        "owner": owner,
        "runbook": runbook,
        "contacts": contacts or None,
        "late_after": late_after,
        "fail_after": fail_after,
    }
    return {name: value for name, value in said.items() if value is not None}
