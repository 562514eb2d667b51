"""The subjects of rolling jobs: put in, taken out, listed, imported as a stream, and how well they are covered."""

from typing import Annotated, Final

from fastapi import Query
from starlette.requests import Request

from horae.api.lines import keys_of
from horae.api.models.subjects import AddSubjects, ChangedView, CoverageView, RemoveSubjects, SubjectView
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import may, router
from horae.domain.tasks import LONGEST_KEY
from horae.service import subjects
from horae.service.context import Context

routes = router("subjects")
STREAM: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string", "description": 'A key a line: `"product-17"` or `{"key": "product-17"}`.'},
                "example": '{"key": "product-17"}\n{"key": "product-18"}\n',
            }
        },
    }
}


@routes.put("/jobs/{job}/subjects")
async def add(ctx: Annotated[Context, may("subjects.add")], job: JobRef, asked: AddSubjects) -> ChangedView:
    """Put up to 1,000 keys into the set. Those that are in it stay as they are, so asking twice changes nothing."""
    found = await subjects.rolling(ctx, job)
    return ChangedView.of(await subjects.add(ctx, found, asked.keys, at_once=asked.at_once))


@routes.post("/jobs/{job}/subjects/remove")
async def remove(ctx: Annotated[Context, may("subjects.remove")], job: JobRef, asked: RemoveSubjects) -> ChangedView:
    """Take up to 1,000 keys out of the set. A refresh that is under way may end."""
    return ChangedView.of(await subjects.remove(ctx, await subjects.rolling(ctx, job), asked.keys))


@routes.post("/jobs/{job}/subjects/import", openapi_extra=STREAM)
async def take_in(
    ctx: Annotated[Context, may("subjects.import")],
    job: JobRef,
    request: Request,
    at_once: Annotated[bool, Query(description="Run them now, and count that.")] = False,
) -> ChangedView:
    """Put a stream of any length into the set, a key a line. What was taken in before a fault stays; ask again."""
    found = await subjects.rolling(ctx, job)
    return ChangedView.of(await subjects.take_in(ctx, found, keys_of(request), at_once=at_once))


@routes.get("/jobs/{job}/subjects")
async def listing(
    ctx: Annotated[Context, may("subjects.list")],
    job: JobRef,
    paging: Paged,
    prefix: Annotated[str, Query(max_length=LONGEST_KEY, description="Only keys that begin so.")] = "",
) -> Page[SubjectView]:
    """The set in the order of its keys, each with its last refresh."""
    found = await subjects.page(ctx, await subjects.rolling(ctx, job), paging.after or "", paging.take, prefix)
    return paging.page(found, SubjectView.of, lambda one: one.key)


@routes.get("/jobs/{job}/coverage")
async def coverage(ctx: Annotated[Context, may("subjects.coverage")], job: JobRef) -> CoverageView:
    """Which share of the set is fresh, whether that is enough, and when it will be."""
    return CoverageView.of(await subjects.coverage(ctx, await subjects.rolling(ctx, job)))
