"""Every page of the console, by a name and its address."""

PAGES = {
    "overview": "/",
    "jobs": "/jobs",
    "job-new": "/jobs/new",
    "job": "/jobs/coupon_job",
    "instances": "/instances",
    "tasks": "/tasks",
    "letters": "/letters",
    "audit": "/audit",
    "tenants": "/tenants",
}
PLATFORM = {"all-tenants": "/tenants/all", "tenant": "/tenants/all/system"}
