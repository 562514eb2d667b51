"""Requests for explanations."""

from horae_client.models import Explanation
from horae_client.wire import Request, path, said


def job(ref: str, at: str | None, lang: str | None) -> Request[Explanation]:
    """Explain a job, or its fire at a time."""
    return Request("GET", path("jobs", ref, "explain"), Explanation, query=said(at=at, lang=lang))


def task(type_: str, key: str, lang: str | None) -> Request[Explanation]:
    """Explain the task of a business key."""
    return Request("GET", path("jobs", type_, "tasks", key, "explain"), Explanation, query=said(lang=lang))


def subject(ref: str, key: str, lang: str | None) -> Request[Explanation]:
    """Explain a subject of a rolling set."""
    return Request("GET", path("jobs", ref, "subjects", key, "explain"), Explanation, query=said(lang=lang))


def instance(id_: str, lang: str | None) -> Request[Explanation]:
    """Explain an instance."""
    return Request("GET", path("instances", id_, "explain"), Explanation, query=said(lang=lang))
