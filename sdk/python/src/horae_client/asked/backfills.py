"""Requests about backfills and groups of them."""

from collections.abc import Mapping
from typing import Any

from horae_client.models import Backfill, BackfillGroup, BackfillPlan, Page, StartedBackfillGroup
from horae_client.wire import Request, path


def backfill(id_: str) -> Request[Backfill]:
    """Get the progress of a backfill."""
    return Request("GET", path("backfills", id_), Backfill)


def backfills(job: str) -> Request[Page[Backfill]]:
    """Get a page of a job's backfills."""
    return Request("GET", path("jobs", job, "backfills"), Page[Backfill])


def plan_backfill(job: str, body: Mapping[str, Any]) -> Request[BackfillPlan]:
    """Get what a backfill would do."""
    return Request("POST", path("jobs", job, "backfill", "plan"), BackfillPlan, body=body)


def pause_backfill(id_: str, key: str) -> Request[Backfill]:
    """Pause a backfill."""
    return Request("POST", path("backfills", id_, "pause"), Backfill, key=key)


def resume_backfill(id_: str, key: str) -> Request[Backfill]:
    """Resume a backfill."""
    return Request("POST", path("backfills", id_, "resume"), Backfill, key=key)


def cancel_backfill(id_: str, key: str) -> Request[Backfill]:
    """Cancel a backfill."""
    return Request("POST", path("backfills", id_, "cancel"), Backfill, key=key)


def start_backfill_group(body: Mapping[str, Any], key: str) -> Request[StartedBackfillGroup]:
    """Run past fires of many jobs."""
    return Request("POST", path("backfill-groups"), StartedBackfillGroup, body=body, key=key)


def backfill_group(id_: str) -> Request[BackfillGroup]:
    """Get the progress of a backfill group."""
    return Request("GET", path("backfill-groups", id_), BackfillGroup)


def change_backfill_group(id_: str, verb: str) -> Request[BackfillGroup]:
    """Pause, resume or cancel the parts of a backfill group. Repeated, it finds them so."""
    return Request("POST", path("backfill-groups", id_, verb), BackfillGroup)
