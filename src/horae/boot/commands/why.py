"""`horae why`: asks PostgreSQL where a cell is configured, so that it also answers while no API runs, else the API.

It only reads, so it needs no reason.
"""

from typing import Annotated

import typer

from horae.api.models.explanations import ExplanationView
from horae.boot.output import answer, out
from horae.boot.remote import Reply, remote
from horae.boot.session import caller
from horae.domain.errors import Invalid, ShardClosed, Unavailable
from horae.domain.explanations.findings import ExplainedKind
from horae.domain.explanations.sentences import heading
from horae.domain.explanations.words import Language
from horae.domain.ids import Prefix
from horae.domain.schedules.triggers import TriggerKind
from horae.runtime.settings import read_settings
from horae.service.explanations import explanations
from horae_client.asked import explanations as asked
from horae_client.asked import jobs as asked_jobs
from horae_client.models import Explanation

Subject = Annotated[
    str, typer.Argument(help="A job by name or id, JOB/KEY for a task or a subject, or the id of an instance.")
]
FireAt = Annotated[
    str | None, typer.Option(help="A fire of the job: 02:00 in its zone, 2026-11-15T02:00, or a time with an offset.")
]


async def why(
    subject: Subject,
    at: FireAt = None,
    lang: Annotated[Language, typer.Option(help="The language of the sentences.")] = Language.EN,
) -> None:
    """Say why a job, one of its fires, a task, a subject or an instance has or has not run, and what it waits for."""
    if read_settings().all_cells():
        found = await _ask_cells(subject, at, lang)
        answer(found.model_dump(mode="json"), lambda: _print(found, lang))
    else:
        reply = await _ask_api(subject, at, lang)
        answer(reply.facts, lambda: _print(reply.value, lang))


async def _ask_cells(subject: str, at: str | None, lang: Language) -> ExplanationView:
    async with caller(owner=True) as ctx:
        try:
            return ExplanationView.of(await explanations.explain(ctx, subject, at), lang)
        except ShardClosed as error:
            down = [cell.name for cell in ctx.store.cells if not cell.is_open]
            if not down:
                raise
            text = f"{', '.join(down)} cannot be reached, and {subject} may lie there: nothing fires in such a cell"
            raise Unavailable(text) from error


async def _ask_api(subject: str, at: str | None, lang: Language) -> Reply[Explanation]:
    name, slash, key = subject.partition("/")
    is_instance = subject.startswith(f"{Prefix.INSTANCE}_")
    if at is not None and (slash or is_instance):
        raise Invalid(explanations.NO_TIME)
    async with remote() as api:
        if is_instance:
            return await api.ask(asked.instance(subject, lang))
        if not slash:
            return await api.ask(asked.job(name, at, lang))
        job = await api.ask(asked_jobs.get(name))
        is_rolling = job.facts["trigger"]["kind"] == TriggerKind.ROLLING
        return await api.ask((asked.subject if is_rolling else asked.task)(name, key, lang))


def _print(found: ExplanationView | Explanation, lang: Language) -> None:
    first = heading(ExplainedKind(found.kind), found.subject, found.at, lang)
    text = "\n".join([first, *(f"- {one.sentence}" for one in found.findings)])
    out.print(text, highlight=False, soft_wrap=True)
