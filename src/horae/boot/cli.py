"""The command line: `horae --help` lists it."""

import typer

from horae import __version__
from horae.boot.commands import cells, doctor, jobs, node, tasks, tenants
from horae.boot.session import out

app = typer.Typer(
    name="horae", help="Decides when to try; your business decides whether it takes effect.", no_args_is_help=True
)
app.add_typer(jobs.app, name="job", help="Jobs: create, list, pause, resume, remove, trigger.")
app.add_typer(tasks.app, name="task", help="Tasks: set the time of a business key.")
app.add_typer(tenants.app, name="tenant", help="Tenants: who owns jobs.")
app.add_typer(cells.app, name="cells", help="Cells: the PostgreSQL clusters that hold the shards.")
app.command("migrate")(cells.migrate)
app.command("node")(node.node)
app.command("doctor")(doctor.doctor)
app.command("history")(jobs.history)


@app.command()
def version() -> None:
    """Say which release this is."""
    out.print(__version__)


def main() -> None:
    """Where the `horae` program begins."""
    app()
