"""The command line: `horae --help` lists it."""

from horae import __version__
from horae.boot.commands import (
    api,
    audit,
    backfills,
    calendars,
    cells,
    dead,
    dev,
    doctor,
    imports,
    intakes,
    jobs,
    keyring,
    keys,
    node,
    plans,
    runs,
    schedules,
    secrets,
    shadows,
    sources,
    subjects,
    subscriptions,
    tasks,
    tenants,
    versions,
)
from horae.boot.manual import page
from horae.boot.telling import Verbs, answer, say

app = Verbs(
    name="horae", help="Decides when to try; your business decides whether it takes effect.", no_args_is_help=True
)
app.add_typer(
    jobs.app,
    name="job",
    help="Jobs: create, list, show, pause, resume, remove, trigger, test, versions, single occurrences.",
)
for verb in (schedules.preview, schedules.skip, schedules.move, schedules.restore):
    jobs.app.command()(verb)
for name, looked in (
    ("show", versions.show),
    ("label", versions.label),
    ("versions", versions.listing),
    ("diff", versions.diff),
):
    jobs.app.command(name)(looked)
app.add_typer(calendars.app, name="calendar", help="Calendars: workdays, holidays, trading days.")
app.add_typer(tasks.app, name="task", help="Tasks: set the time of a business key.")
app.add_typer(dead.app, name="dead", help="Dead letters: list, replay, discard.")
app.add_typer(tenants.app, name="tenant", help="Tenants: who owns jobs.")
app.add_typer(cells.app, name="cells", help="Cells: the PostgreSQL clusters that hold the shards.")
app.command("migrate")(cells.migrate)
app.add_typer(keyring.app, name="keyring", help="Keys that seal payloads: create, rotate, wrap anew.")
app.add_typer(keys.app, name="keys", help="API keys: the first one, and those of any tenant.")
app.add_typer(audit.app, name="audit", help="The sealed audit log: verify, anchor.")
app.add_typer(secrets.app, name="secrets", help="Named secrets of a tenant: put, list without values, remove.")
app.add_typer(sources.app, name="sources", help="Sources: where a business lists what should be pending.")
app.add_typer(subjects.app, name="subjects", help="Subjects of rolling jobs: add, remove, import, list, coverage.")
app.add_typer(subscriptions.app, name="subscription", help="Subscriptions: who is told of what happens, and again.")
app.add_typer(intakes.app, name="intake", help="Intakes: topics that schedule changes come by.")
app.add_typer(intakes.parking, name="parked", help="Messages that an intake could make nothing of: list, replay, drop.")
app.command("node")(node.node)
app.command("api")(api.api)
app.command("dev")(dev.dev)
app.command("doctor")(doctor.doctor)
app.add_typer(runs.instance, name="instance", help="Instances: list, show, cancel, retry.")
app.add_typer(backfills.app, name="backfill", help="Backfills: past fires of a job, asked for as a range.")
app.command("health")(runs.health)
app.command("nodes")(runs.nodes)
app.command("history")(jobs.history)
app.command("forecast")(schedules.forecast)
app.add_typer(imports.app, name="import", help="Schedules of crontab, Celery beat, XXL-JOB and Quartz.")
app.add_typer(shadows.app, name="shadow", help="Jobs that fire nothing, beside the system they take over from.")
app.command("plan")(plans.plan)
app.command("apply")(plans.apply)


@app.command()
def version() -> None:
    """Say which release this is."""
    say({"version": __version__}, __version__)


@app.command(hidden=True)
def manual() -> None:
    """Write the page docs/cli.md."""
    text = page(app)
    answer({"page": text}, lambda: print(text, end=""))


def main() -> None:
    """Where the `horae` program begins."""
    app()
