"""`horae job`: its commands from five modules."""

from horae.boot.commands import job_people, job_problems, jobs, schedules, versions

app = jobs.app
for verb in (schedules.preview, schedules.skip, schedules.move, schedules.restore):
    app.command()(verb)
for name, looked in (
    ("show", versions.show),
    ("label", versions.label),
    ("problems", job_problems.problems),
    ("people", job_people.people),
    ("versions", versions.listing),
    ("diff", versions.diff),
):
    app.command(name)(looked)
