"""Routes of explanations: why a job, a fire, a task, a subject or an instance has or has not run.

The path of a key ends with `/explain` and begins with the job, so that a key may contain slashes and end with the same
word.
"""

from typing import Annotated

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from horae.api.models.explanations import ExplanationView
from horae.api.routes.jobs import JobRef
from horae.api.routes.runs import InstanceId
from horae.api.routes.tasks import KeyRef
from horae.api.routing import may, router
from horae.domain.explanations.fire_times import LONGEST_TIME
from horae.domain.explanations.sentences import language_of
from horae.domain.explanations.words import Language
from horae.service.context import Context
from horae.service.explanations import explanations

routes = router("explanations")
FireAt = Annotated[
    str | None,
    Query(
        max_length=LONGEST_TIME,
        description="The time of a fire: `02:00` is the last one that has passed, in the zone of the job; so is "
        "`2026-11-15T02:00`; or a time with an offset. If there is no fire then, the nearest one is explained.",
        examples=["02:00", "2026-11-15T02:00:00+08:00"],
    ),
]


async def chosen_language(
    request: Request,
    response: Response,
    lang: Annotated[Language | None, Query(description="The language. By default `Accept-Language` decides.")] = None,
) -> Language:
    """Returns the language of the response, and says it in its headers."""
    language = language_of(request.headers.get("accept-language")) if lang is None else lang
    response.headers["Content-Language"] = language
    response.headers["Vary"] = "Accept-Language"
    return language


ChosenLanguage = Annotated[Language, Depends(chosen_language)]


@routes.get("/jobs/{job}/explain")
async def explain_job(
    ctx: Annotated[Context, may("jobs.read")], job: JobRef, language: ChosenLanguage, at: FireAt = None
) -> ExplanationView:
    """Explain why a job does or does not run now, or what became of its fire at a time."""
    return ExplanationView.of(await explanations.explain_job(ctx, job, at), language)


@routes.get("/jobs/{job}/tasks/{key:path}/explain")
async def explain_task(
    ctx: Annotated[Context, may("tasks.read")], job: JobRef, key: KeyRef, language: ChosenLanguage
) -> ExplanationView:
    """Explain why the task of a business key has or has not run: the last decision about it, and its instance."""
    return ExplanationView.of(await explanations.explain_task(ctx, job, key), language)


@routes.get("/jobs/{job}/subjects/{key:path}/explain")
async def explain_subject(
    ctx: Annotated[Context, may("subjects.list")], job: JobRef, key: KeyRef, language: ChosenLanguage
) -> ExplanationView:
    """Explain why a subject of a rolling set was or was not refreshed, and when it is due again."""
    return ExplanationView.of(await explanations.explain_subject(ctx, job, key), language)


@routes.get("/instances/{instance}/explain")
async def explain_instance(
    ctx: Annotated[Context, may("instances.read")], instance: InstanceId, language: ChosenLanguage
) -> ExplanationView:
    """Explain what an instance waits for, who runs it, how it ended, and why it was late or sent more than once."""
    return ExplanationView.of(await explanations.explain_instance(ctx, instance), language)
