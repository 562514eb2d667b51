"""What this business asks of Horae: two types of tasks, when each article is due, and a source that finds the lost.

An article's audit and its publication are two tasks with the article as their key. The audit is due at the publish
time, and the publication starts after the audit has succeeded: nobody calls back into the scheduler, and nobody polls.
"""

from contextlib import suppress
from typing import Any

from horae_client import After, Client, Http, HttpOrigin, Keyed, errors
from horae_client.models import Decision

from .business import Status, Wanted

AUDIT, PUBLISH = "ARTICLE_AUDIT", "ARTICLE_PUBLISH"
SECRET_NAME = "articles"
PENDING = {AUDIT: [Status.PENDING_AUDIT], PUBLISH: [Status.AUDIT_SUCCESS]}
"""In which states an article has a task of each type."""
PATHS = {AUDIT: "/hooks/audit", PUBLISH: "/hooks/publish"}
AFTER = {AUDIT: None, PUBLISH: After(AUDIT)}
"""What each type starts after."""
READ_TIMEOUT = 5.0
EVERY, GRACE = 10.0, 2.0


def declare(client: Client, our_url: str, secret: str) -> None:
    """Make sure that types and sources exist. Asked at every start."""
    client.secrets.put(SECRET_NAME, secret)
    for name, path in PATHS.items():
        target = Http(our_url + path, signing=SECRET_NAME, read_timeout=READ_TIMEOUT)
        with suppress(errors.NameTaken):
            client.jobs.create(name, trigger=Keyed(), target=target, after=AFTER[name])
        listed = HttpOrigin(f"{our_url}/hooks/pending", signing=SECRET_NAME)
        client.sources.put(name, listed, every=EVERY, grace=GRACE)


def announce(client: Client, wanted: Wanted) -> Decision:
    """Tell Horae when an article is due, after the commit; returns what that meant for it.

    An article that is audited already has a publication, or will have one in a moment: that gets the new time, too. If
    we die before it, the source finds the article. `version` makes late and repeated words harmless: also those of the
    audit's end, which carry the version of the audit.
    """
    said: dict[str, Any] = {"at": wanted.publish_time, "version": wanted.version}
    audit = client.tasks.schedule(AUDIT, wanted.id, **said)
    if wanted.audited or (audit.decision == "ignored" and audit.reason == "succeeded"):
        return client.tasks.schedule(PUBLISH, wanted.id, **said)
    return audit
