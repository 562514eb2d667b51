"""Judges a run of articles by what authors were told and what readers saw; it knows nothing of the scheduler.

An article is published at its last acknowledged time. Where the answer was `replaced`, a publication was under way at
that moment: then the time before it is as good. Lateness counts from the time, the success of the audit, or the moment
at which the time was acknowledged (of a lost submission: at which it was repaired), whichever is latest.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tests.examples.authors import Author, Told

APART = timedelta(seconds=15)
"""What is due so soon after a kill is told apart: a lease lasts 8 s, and what it left behind is found after that."""
CLOCKS = timedelta(milliseconds=5)


class Article(NamedTuple):
    """A row of the business, with every time at which readers got it."""

    id: str
    title: str
    status: str
    publish_time: datetime
    audited_at: datetime | None
    published: list[datetime]


class Late(NamedTuple):
    """How late an article came, and since when it could have come."""

    id: str
    since: datetime
    seconds: float


def candidates(told: Sequence[Told]) -> list[Told]:
    """The times at which it may be published: the last one, and what was under way when that replaced it."""
    newest = sorted(told)
    found = [newest[-1]]
    for before, after in zip(newest[-2::-1], newest[::-1], strict=False):
        if after.decision in {"created", "moved"}:
            break  # `ignored`: the source had told this wish before, and may have replaced something then
        found.append(before)
    return found


def lateness(article: Article, author: Author, repaired: Mapping[str, datetime]) -> Late:
    """How late it was published, by the time that explains it best."""
    [published] = article.published
    assert article.audited_at is not None
    if author.lost:
        since = max(article.publish_time, article.audited_at, repaired[article.id])
        return Late(article.id, since, (published - since).total_seconds())
    fits = [one for one in candidates(author.told) if published >= one.at - CLOCKS]
    assert fits, f"{article} came before every time that was acknowledged: {author.told}"
    sinces = [max(one.at, article.audited_at, min(one.heard, published)) for one in fits]
    since = max(sinces)
    return Late(article.id, since, (published - since).total_seconds())


def wrong(articles: Sequence[Article], authors: Mapping[str, Author]) -> list[str]:
    """Everything that is not as it should be, but for lateness."""
    found = []
    for one in articles:
        wanted = "AUDIT_FAIL" if authors[one.title].rejected else "PUBLISHED"
        if one.status != wanted or len(one.published) != (wanted == "PUBLISHED"):
            found.append(f"{one} should be {wanted}")
    return found


def report(lates: Sequence[Late], kills: Sequence[datetime]) -> dict[str, Any]:
    """The spread of lateness, with what was due soon after a kill apart."""
    apart = [one for one in lates if any(kill <= one.since <= kill + APART for kill in kills)]
    rest = sorted(one.seconds for one in lates if one not in set(apart))
    return (
        {"published": len(lates)} | spread("late", rest) | spread("late after a kill", [one.seconds for one in apart])
    )


def spread(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    """Count, median, 95th percentile and most."""
    if not seconds:
        return {name: 0}
    order = sorted(seconds)
    at = {share: round(order[min(len(order) - 1, int(len(order) * share))], 3) for share in (0.5, 0.95)}
    return {name: len(order), f"{name}: p50": at[0.5], f"{name}: p95": at[0.95], f"{name}: max": round(order[-1], 3)}
