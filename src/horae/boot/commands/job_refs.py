"""How a command names a job: by its name or its id, completed from the server."""

from typing import Annotated

import typer

from horae.boot.completion import complete_jobs

JobRef = Annotated[
    str, typer.Argument(metavar="JOB", help="A job's name, or its id (job_…).", autocompletion=complete_jobs)
]
OnlyJob = Annotated[str | None, typer.Option("--job", help="Only of this job.", autocompletion=complete_jobs)]
