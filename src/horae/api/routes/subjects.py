"""Routes of the subjects of rolling jobs: add, remove, import, list, coverage."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request

from horae.api.models.subjects import AddSubjects, CoverageView, RemoveSubjects, SubjectChangesView, SubjectView
from horae.api.ndjson import keys_of
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import may, router
from horae.domain.rolling.rolling import SubjectFilter, SubjectStatus
from horae.domain.tasks.tasks import LONGEST_KEY
from horae.service.context import Context
from horae.service.rolling import subjects

routes = router("subjects")
STREAM: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {
                    "type": "string",
                    "description": 'One key per line: `"product-17"` or `{"key": "product-17"}`.',
                },
                "example": '{"key": "product-17"}\n{"key": "product-18"}\n',
            }
        },
    }
}


@routes.put("/jobs/{job}/subjects")
async def add_subjects(
    ctx: Annotated[Context, may("subjects.add")], job: JobRef, asked: AddSubjects
) -> SubjectChangesView:
    """Add up to 1,000 keys to the set. Keys that are already in it do not change, so the request may be repeated."""
    found = await subjects.rolling_job(ctx, job)
    return SubjectChangesView.of(await subjects.add(ctx, found, asked.keys, at_once=asked.at_once))


@routes.post("/jobs/{job}/subjects/remove")
async def remove_subjects(
    ctx: Annotated[Context, may("subjects.remove")], job: JobRef, asked: RemoveSubjects
) -> SubjectChangesView:
    """Remove up to 1,000 keys from the set. A running refresh may finish."""
    return SubjectChangesView.of(await subjects.remove(ctx, await subjects.rolling_job(ctx, job), asked.keys))


@routes.post("/jobs/{job}/subjects/import", openapi_extra=STREAM)
async def import_subjects(
    ctx: Annotated[Context, may("subjects.import")],
    job: JobRef,
    request: Request,
    at_once: Annotated[bool, Query(description="Refresh new subjects now.")] = False,
) -> SubjectChangesView:
    """Import a stream of any length into the set, one key per line. After an error, send the stream again."""
    found = await subjects.rolling_job(ctx, job)
    return SubjectChangesView.of(await subjects.import_keys(ctx, found, keys_of(request), at_once=at_once))


@routes.get("/jobs/{job}/subjects")
async def list_subjects(
    ctx: Annotated[Context, may("subjects.list")],
    job: JobRef,
    paging: Paged,
    prefix: Annotated[str, Query(max_length=LONGEST_KEY, description="Prefix filter on the key.")] = "",
    status: Annotated[
        int | None, Query(ge=0, le=3, description="Only subjects of this status: 0, 1, 2 or 3, as in the response.")
    ] = None,
    batch_no: Annotated[
        str | None, Query(pattern="^[0-9a-f]{32}$", description="Only subjects that this batch took last.")
    ] = None,
) -> Page[SubjectView]:
    """List the subjects of the set, by key, each with its last refresh."""
    wanted = SubjectFilter(
        prefix,
        None if status is None else SubjectStatus(status),
        None if batch_no is None else UUID(batch_no),
    )
    found = await subjects.page(ctx, await subjects.rolling_job(ctx, job), paging.after or "", paging.take, wanted)
    return paging.page(found, SubjectView.of, lambda one: one.key)


@routes.get("/jobs/{job}/coverage")
async def get_coverage(ctx: Annotated[Context, may("subjects.coverage")], job: JobRef) -> CoverageView:
    """Get the coverage: the share of fresh subjects, and when the target is expected to be met."""
    return CoverageView.of(await subjects.coverage(ctx, await subjects.rolling_job(ctx, job)))
