"""What this business asks of Horae: two types of tasks, when each article is due, and a source that finds the lost.

An article's audit and its publication are two tasks with the article as their key, both due at its publish time. A
publication that comes before its audit succeeded is told "too early" and comes again: nobody calls back into the
scheduler.
"""

from contextlib import suppress
from typing import Any

from horae_client import Client, Http, HttpOrigin, Keyed, RetryPolicy, errors
from horae_client.models import Decision

from .business import Status, Wanted

AUDIT, PUBLISH = "ARTICLE_AUDIT", "ARTICLE_PUBLISH"
SECRET_NAME = "articles"
PENDING = {AUDIT: [Status.PENDING_AUDIT], PUBLISH: [Status.PENDING_AUDIT, Status.AUDIT_SUCCESS]}
"""In which states an article has a task of each type."""
PATHS = {AUDIT: "/hooks/audit", PUBLISH: "/hooks/publish"}
RETRIES = {
    AUDIT: None,  # Horae's own: after 1, 2, 4, 8 and 16 seconds and a little
    PUBLISH: RetryPolicy(base=0.25, jitter_min=0.05, jitter_max=0.25, longest=1.0, max_failures=120),
}
"""A publication that came before its audit comes again every second, for two minutes."""
READ_TIMEOUT = 5.0
EVERY, GRACE = 10.0, 2.0


def declare(client: Client, our_url: str, secret: str) -> None:
    """Make sure that types and sources exist. Asked at every start."""
    client.secrets.put(SECRET_NAME, secret)
    for name, path in PATHS.items():
        target = Http(our_url + path, signing=SECRET_NAME, read_timeout=READ_TIMEOUT)
        with suppress(errors.NameTaken):
            client.jobs.create(name, trigger=Keyed(), target=target, retry=RETRIES[name])
        listed = HttpOrigin(f"{our_url}/hooks/pending", signing=SECRET_NAME)
        client.sources.put(name, listed, every=EVERY, grace=GRACE)


def announce(client: Client, wanted: Wanted) -> Decision:
    """Tell Horae when an article is due, after the commit; returns what that meant for its publication.

    If we die before it, the source finds the article. `version` makes late and repeated words harmless.
    """
    said: dict[str, Any] = {"at": wanted.publish_time, "version": wanted.version}
    client.tasks.schedule(AUDIT, wanted.id, **said)
    return client.tasks.schedule(PUBLISH, wanted.id, **said)
