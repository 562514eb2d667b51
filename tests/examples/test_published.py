"""The judge of articles, on paper: what it must catch, and what it must let pass."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.examples.authors import Author, Run, Told
from tests.examples.published import Article, Late, lateness, report, wrong

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
RUN = Run(articles=1, seconds=60, kills=())


def after(seconds):
    return NOON + timedelta(seconds=seconds)


def an_author(*told, rejected=False, lost=False):
    author = Author(0, RUN, NOON, random.Random(1))
    author.told = [Told(version, after(at), decision, after(heard)) for version, at, decision, heard in told]
    author.rejected, author.lost = rejected, lost
    return author


def an_article(*published, status="PUBLISHED", audited=1.0):
    return Article("a", "article 0", status, after(10), after(audited), [after(at) for at in published])


def late(article, author, **repaired):
    return round(lateness(article, author, repaired).seconds, 3)


@pytest.mark.parametrize(
    ("article", "rejected", "fine"),
    [
        (an_article(10.1), False, True),
        (an_article(10.1, 10.2), False, False),
        (an_article(status="AUDIT_SUCCESS"), False, False),
        (an_article(status="AUDIT_FAIL"), True, True),
        (an_article(10.1), True, False),
    ],
)
def test_an_article_is_published_once_or_rejected_and_never(article, rejected, fine):
    assert (wrong([article], {"article 0": an_author(rejected=rejected)}) == []) is fine


def test_lateness_counts_from_the_last_acknowledged_time_and_not_before_the_audit():
    author = an_author((1, 10, "created", 0), (2, 20, "moved", 5))
    assert late(an_article(20.5), author) == 0.5
    assert late(an_article(23.5, audited=23.0), author) == 0.5
    assert late(an_article(30.5), an_author((1, 10, "created", 0), (2, 9, "moved", 30))) == 0.5, "asked for after it"


def test_what_came_before_its_last_acknowledged_time_is_caught_unless_it_was_under_way():
    with pytest.raises(AssertionError):
        late(an_article(10.2), an_author((1, 10, "created", 0), (2, 20, "moved", 5)))
    under_way = an_author((1, 10, "created", 0), (2, 20, "replaced", 10.1))
    assert late(an_article(10.2), under_way) == 0.2
    assert late(an_article(20.5), under_way) == 0.5, "it did not come to pass, and the new time held"
    with pytest.raises(AssertionError):
        late(an_article(10.2), an_author((1, 10, "created", 0), (2, 20, "replaced", 10.1), (3, 30, "moved", 12)))


def test_a_lost_submission_is_late_from_its_repair_on():
    assert late(an_article(25.5), an_author(lost=True), a=after(25)) == 0.5


def test_what_is_due_soon_after_a_kill_is_told_apart():
    lates = [Late("a", after(0), 0.1), Late("b", after(16), 9.0), Late("c", after(40), 0.2)]
    found = report(lates, [after(10)])
    assert (found["late"], found["late after a kill"], found["late: max"]) == (2, 1, 0.2)
