"""The real Quartz 2.3.2 as a witness. Where we answer otherwise, docs/time.md has a line that says why."""

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.cron import Dialect, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones.dst import DEFAULT
from horae.domain.zones.zones import zone
from tests.domain.cron import generate, quartz

pytestmark = pytest.mark.skipif(bool(quartz.missing()), reason=quartz.missing())

HERE = zone("UTC")
FIRES = 20
START = datetime(2000, 1, 1, tzinfo=UTC)
AFTER_2099 = datetime(2100, 1, 1, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def the_real_one(tmp_path_factory):
    return quartz.Quartz(tmp_path_factory.mktemp("quartz"))


def ours(start, text):
    dialect = Dialect.QUARTZ7 if len(text.split()) == 7 else Dialect.QUARTZ6
    try:
        cron = parse(text, dialect)
    except InvalidSchedule as refused:
        return f"refused: {refused}"
    found, at = [], start + 1
    while len(found) < FIRES:
        fire, _ = cron.find(at, HERE, DEFAULT)
        if fire is None:
            break
        found.append(fire)
        at = fire + 1
    return found


def explanation(text, mine, theirs):
    """The reason, in a few words of docs/time.md, why two answers may differ; nothing when they may not."""
    day = text.split()[3]
    if isinstance(theirs, str):
        if theirs.startswith("refused: Support for specifying 'L'") and "," in day:
            return "lists with L"
        return None
    if isinstance(mine, str):
        if "never fires" in mine and not theirs:
            return "impossible dates"
        return "W in a short month" if re.fullmatch(r"(29|30|31)W", day) else None
    if re.fullmatch(r"(29|30|31)W", day):
        return "W in a short month"
    same = min(len(mine), len(theirs))
    if mine[:same] == theirs[:same] and max(mine[same:] + theirs[same:]) >= AFTER_2099:
        return "years after 2099"
    return None


def compare(the_real_one, texts):
    chance = random.Random(len(texts))
    questions = [
        (int((START + timedelta(seconds=chance.randrange(10**9))).timestamp()), "UTC", FIRES, text) for text in texts
    ]
    seen = Counter()
    for (start, _, _, text), theirs in zip(questions, the_real_one.fires(questions), strict=True):
        mine = ours(start, text)
        if mine != theirs:
            reason = explanation(text, mine, theirs)
            assert reason, (text, datetime.fromtimestamp(start, UTC), mine, theirs)
            seen[reason] += 1
    return seen


def test_everyday_expressions_fire_as_the_real_quartz_does(the_real_one):
    chance = random.Random(4)
    texts = []
    while len(texts) < 3_000:
        near = START + timedelta(seconds=chance.randrange(10**9))
        texts.append(generate.expression(chance, chance.choice(["quartz6", "quartz7"]), near))
    seen = compare(the_real_one, texts)
    assert set(seen) <= {"lists with L", "impossible dates", "W in a short month"}


def test_odd_expressions_fire_as_the_real_quartz_does_or_have_a_reason(the_real_one):
    chance = random.Random(5)
    seen = compare(the_real_one, [generate.odd_quartz(chance) for _ in range(2_500)])
    assert sum(seen.values()) < 250


def test_where_quartz_never_comes_back_we_answer_at_once(the_real_one):
    text = "0 0 0 L-30W NOV-FEB ?"
    start = int(datetime(2008, 4, 12, tzinfo=UTC).timestamp())
    assert the_real_one.fires([(start, "UTC", 1, text)]) == ["hung"]
    assert datetime.fromtimestamp(ours(start, text)[0], UTC) == datetime(2008, 12, 1, tzinfo=UTC)
