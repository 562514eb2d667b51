"""`horae graph …`: graphs, their runs, and the steps of these."""

from pathlib import Path
from typing import Annotated, Any

import typer

from horae.boot.commands.graph_lines import print_graph, print_run
from horae.boot.commands.job_refs import JobRef
from horae.boot.output import answer
from horae.boot.remote import Remote, Reply, remote
from horae.boot.schedule_files import yaml
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid, NotFound
from horae_client import keys
from horae_client.asked import graphs as asked
from horae_client.asked import jobs as asked_of_jobs
from horae_client.models import GraphRun, Job

app = Verbs(no_args_is_help=True)
MOST = 50
File = Annotated[
    Path,
    typer.Option(
        "--file", "-f", help="YAML or JSON: the fields of a job, with its steps.", exists=True, dir_okay=False,
        allow_dash=True,
    ),
]  # fmt: skip
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run (ins_…); it is that of its instance.")]
StepName = Annotated[str, typer.Argument(metavar="STEP", help="The name of a step.")]
State = Annotated[str | None, typer.Option(help="Only elements in this state, such as DEAD.")]


@app.command()
async def create(name: str, file: File) -> None:
    """Create a graph from a file: its steps, what each needs and calls, and when it fires."""
    fields = _fields(file)
    async with remote() as api:
        _answer_graph(await api.ask(asked_of_jobs.create(name, fields, keys.made(None))))


@app.command()
async def update(job: JobRef, file: File) -> None:
    """Write the next version of a graph from a file. Runs that have begun go on with their version."""
    fields = _fields(file)
    async with remote() as api:
        found = await _graph(api, job)
        request = asked_of_jobs.update(job, found.value.version, fields, keys.made(None))
        _answer_graph(await api.ask(request))


@app.command()
async def show(job: JobRef) -> None:
    """Draw a graph: each step below the last of the steps that it needs."""
    async with remote() as api:
        _answer_graph(await _graph(api, job))


@app.command()
async def runs(job: JobRef, limit: int = MOST) -> None:
    """List the runs of a graph, newest first."""
    async with remote() as api:
        found = await api.items(asked.runs(job), limit)
    rows = [
        (run.id, moment(run.fire_time), run.state, "blocked" if run.blocked else "", run.job_version,
         moment(run.started_at), moment(run.ended_at))
        for run in found.value
    ]  # fmt: skip
    columns = ("run", "fire time (UTC)", "state", "waits", "version", "started", "ended")
    answer_rows(found.facts, columns, rows, empty="it has not run yet", least=("version", "started", "ended"))


@app.command()
async def run(run: RunId) -> None:
    """Show a run with the states of its steps."""
    async with remote() as api:
        _answer_run(await api.ask(asked.run(run)))


@app.command()
async def children(run: RunId, step: StepName, state: State = None, limit: int = MOST) -> None:
    """List the elements of a mapped step in a run, in the order of its list."""
    async with remote() as api:
        found = await api.items(asked.children(run, step, state), limit)
    rows = [
        (child.number, child.state, child.reason or "", child.instance_id or "", moment(child.changed_at))
        for child in found.value
    ]
    columns = ("number", "state", "reason", "instance", "changed (UTC)")
    answer_rows(found.facts, columns, rows, empty="no element of the step", least=("changed (UTC)",))


@app.command()
async def retry(run: RunId, step: StepName) -> None:
    """Run a step of an open run again, and all steps behind it."""
    await _change(run, step, "retry")


@app.command()
async def skip(run: RunId, step: StepName) -> None:
    """Skip a step of an open run: the run goes on without it."""
    await _change(run, step, "skip")


@app.command()
async def succeed(run: RunId, step: StepName) -> None:
    """Mark a step of an open run as succeeded, because its work was done in another way."""
    await _change(run, step, "succeed")


async def _change(run: str, step: str, action: str) -> None:
    async with remote() as api:
        _answer_run(await api.ask(asked.step_verb(run, step, action, keys.made(None))))


async def _graph(api: Remote, ref: str) -> Reply[Job]:
    found = await api.ask(asked_of_jobs.get(ref))
    if found.value.steps is None:
        raise NotFound(f"job {ref!r} is not a graph: it has no steps")
    return found


def _answer_graph(reply: Reply[Job]) -> None:
    answer(reply.facts, lambda: print_graph(reply.value))


def _answer_run(reply: Reply[GraphRun]) -> None:
    answer(reply.facts, lambda: print_run(reply.value))


def _fields(file: Path) -> dict[str, Any]:
    text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text("utf-8")
    found = yaml.read(text, str(file))
    if not isinstance(found, dict) or "steps" not in found:
        raise Invalid(f"{file} needs `steps:`, a list of steps, each with a name")
    return found
