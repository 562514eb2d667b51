"""Every page of the console, by a name and its address."""

PAGES = {
    "overview": "/",
    "forecast": "/forecast",
    "jobs": "/jobs",
    "job-new": "/jobs/new",
    "instances": "/instances",
    "tasks": "/tasks",
    "workers": "/workers",
    "sources": "/sources",
    "rolling": "/rolling",
    "calendars": "/calendars",
    "events": "/events",
    "dead-letters": "/dead-letters",
    "causes": "/dead-letters/causes",
    "replays": "/dead-letters/replays",
    "backfill-groups": "/backfill-groups",
    "alerts": "/alerts",
    "alert-channels": "/alerts/channels",
    "alert-rules": "/alerts/rules",
    "silences": "/alerts/silences",
    "audit": "/audit",
    "certificates": "/certificates/days",
    "secrets": "/secrets",
    "limits": "/limits",
    "retention": "/retention",
    "tenants": "/tenants",
}
PLATFORM = {"overview-platform": "/", "all-tenants": "/tenants/all", "tenant": "/tenants/all/system"}
PLATFORM |= {"incidents": "/incidents", "drills": "/drills"}
PLATFORM |= {"limits-platform": "/limits", "retention-platform": "/retention", "capacity": "/capacity"}
SINGLE = (
    "instance",
    "run",
    "task",
    "source",
    "subjects",
    "cause",
    "replay",
    "backfill-group",
    "alert",
    "calendar",
    "certificate",
)
OF_JOB = {
    "job": "",
    "job-calendar": "?view=calendar",
    "job-backfills": "?view=backfills",
    "job-versions": "?view=versions",
}


def pages_of(made: dict[str, str], job: str = "coupon_job") -> dict[str, str]:
    """With the pages of single things: a job in all its views, an instance, a run, a task, a source, a set …"""
    of_job = {name: f"/jobs/{job}{view}" for name, view in OF_JOB.items()} | {"job-edit": f"/jobs/{job}/edit"}
    return PAGES | (of_job if "job 0" not in made else {}) | {name: made[name] for name in SINGLE}
