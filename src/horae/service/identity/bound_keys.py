"""Keys that are bound to some jobs of a tenant: those that have all labels of the key, such as the owner of a plan.

Such a key may do the actions that `security/roles.py` marks as `bound`, and only to these jobs. Each function here
refuses what belongs to other jobs; for a caller that is not bound it does nothing, and reads nothing.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from horae.domain.errors import Forbidden
from horae.domain.jobs.jobs import Job, JobFilter
from horae.service.context import Context


def check_job(ctx: Context, job: Job) -> Job:
    """Returns the job, or refuses it to a caller that is bound to others."""
    check_labels(ctx, job.name, job.definition.labels)
    return job


def check_labels(ctx: Context, name: str, labels: Mapping[str, str]) -> None:
    """Refuse a job with these labels, which exists or is about to, to a caller that is bound to others."""
    if ctx.job_labels and not ctx.job_labels.items() <= labels.items():
        raise Forbidden(f"this key is bound to jobs with {_text(ctx)}; job {name!r} is not one of them")


def narrow(ctx: Context, wanted: JobFilter) -> JobFilter:
    """Returns the filter for the jobs that are wanted and that the caller may see."""
    if not ctx.job_labels:
        return wanted
    for name, value in ctx.job_labels.items():
        if wanted.labels.get(name, value) != value:
            raise Forbidden(f"this key is bound to jobs with {_text(ctx)}, and cannot list others")
    return replace(wanted, labels=wanted.labels | dict(ctx.job_labels))


def check_not_bound(ctx: Context, what: str) -> None:
    """Refuse to a bound caller what concerns all jobs of a tenant."""
    if ctx.job_labels:
        raise Forbidden(f"this key is bound to jobs with {_text(ctx)}, and cannot {what}")


async def find_type(ctx: Context, name: str) -> Job:
    """Returns the type of a task, if the caller may see it."""
    return check_job(ctx, await ctx.types.find(ctx.tenant, name))


def _text(ctx: Context) -> str:
    return " and ".join(f"{name}={value}" for name, value in sorted(ctx.job_labels.items()))
