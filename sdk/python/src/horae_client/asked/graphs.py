"""Requests about the runs of graphs."""

from horae_client.models import GraphChild, GraphRun, Page
from horae_client.wire import Request, path, said


def runs(job: str) -> Request[Page[GraphRun]]:
    """Get a page of a graph's runs."""
    return Request("GET", path("jobs", job, "graph-runs"), Page[GraphRun])


def run(instance: str) -> Request[GraphRun]:
    """Get one run with its steps."""
    return Request("GET", path("graph-runs", instance), GraphRun)


def children(instance: str, step: str, state: str | None) -> Request[Page[GraphChild]]:
    """Get a page of the elements of a mapped step."""
    return Request(
        "GET", path("graph-runs", instance, "steps", step, "children"), Page[GraphChild], query=said(state=state)
    )


def step_verb(instance: str, step: str, name: str, key: str) -> Request[GraphRun]:
    """Retry, skip or succeed a step."""
    return Request("POST", path("graph-runs", instance, "steps", step, name), GraphRun, key=key)
