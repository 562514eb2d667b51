"""Seeds 000 and 001 as a business, in real time: authors change their minds while auditors fail and nodes are killed.

Everything is a process of its own: the article service, the third party that audits, an API process, two nodes over
two cells. 5 % of audits fail, 1 % of calls are answered too late although they took effect, and after 1 % of
submissions the service "dies" before Horae is told: those are found by the source.
"""

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
import pytest

from horae.security.roles import Role
from horae.service.identity import api_keys
from horae_client import Client
from tests.api.api_servers import open_doors
from tests.examples.authors import Author, Run
from tests.examples.published import Article, lateness, report, wrong
from tests.examples.shops import SECRET, own_database, some_nodes, web_service
from tests.steps import query, until
from tests.store.walls import as_role

SHORT = Run(articles=1_000, seconds=120, kills=(30, 90))
LONG = Run(articles=10_000, seconds=600, kills=tuple(range(30, 600, 60)))
DOWN = 2.0
"""Seconds until a killed node is started again."""
LUCK = {"UNLUCKY_LOST": "0.01", "UNLUCKY_LATE": "0.01", "AUDITOR_FAILS": "0.05", "AUDITOR_SLOW": "0.1"}
ROUNDS = 2
TYPES = ("ARTICLE_AUDIT",)
"""The tasks that a lost submission lacks: its publication starts after the audit."""


@pytest.fixture
async def newsroom(ctx, cells, cluster, tmp_path):
    """All of it; gives the authors' way in, the business's DSN, the nodes, and where Horae is."""
    key = (await api_keys.create(ctx, "articles", [Role.ADMIN])).text
    with own_database(cluster, "articles") as dsn:
        async with (
            some_nodes(2, cells, tmp_path) as nodes,
            open_doors(1, tmp_path, as_role(cells, "horae_api")) as [door],
            web_service("articles.auditor", tmp_path, LUCK) as auditor,
        ):
            horae = {"HORAE_URL": f"http://127.0.0.1:{door.port}", "HORAE_KEY": key}
            env = {"ARTICLES_DSN": dsn, "ARTICLES_URL": "{url}", "ARTICLES_SECRET": SECRET, "AUDITOR_URL": auditor}
            served = web_service("tests.examples.unlucky", tmp_path, env | horae | LUCK)
            limits = httpx2.Limits(max_connections=100, keepalive_expiry=20)
            async with served as url, httpx2.AsyncClient(base_url=url, timeout=60, limits=limits) as people:
                with Client(horae["HORAE_URL"], key) as client:
                    yield people, dsn, nodes, client


async def kill_now_and_then(nodes, run, began):
    """One node and then the other; each is back after a moment. Returns when they were killed."""
    kills = []
    for number, after in enumerate(run.kills):
        await asyncio.sleep(max(0.0, (began + timedelta(seconds=after) - datetime.now(UTC)).total_seconds()))
        node = nodes[number % len(nodes)]
        node.kill()
        kills.append(datetime.now(UTC))
        await node.ended()
        await asyncio.sleep(DOWN)
        node.start()
    return kills


def articles_of(dsn):
    said = """select a.id, a.title, a.status, a.publish_time, a.audited_at,
                     array_remove(array_agg(f.published_at), null)
              from article a left join feed f on f.article_id = a.id group by a.id"""
    with psycopg.connect(dsn) as business:
        return [Article(*row) for row in business.execute(said)]


def repairs_of(client, lost):
    """When the source made the tasks of the lost ones, and in how many rounds after the loss each was made at most."""
    repaired, slowest = {}, 0
    for type_name in TYPES:
        begun = sorted(one.began_at for one in client.sources.rounds(type_name))
        made = {one.key: one for one in client.sources.repairs(type_name) if one.decision == "created"}
        for id_, submitted_at in lost.items():
            assert id_ in made, f"the source of {type_name} never found {id_}"
            since = [began for began in begun if submitted_at <= began <= made[id_].at]
            slowest = max(slowest, len(since))
            repaired[id_] = max(repaired.get(id_, submitted_at), made[id_].at)
    return repaired, slowest


async def left(dsn, store):
    """What is not over, for whoever has to find out why."""
    waiting = [one for one in articles_of(dsn) if one.status in {"PENDING_AUDIT", "AUDIT_SUCCESS"}]
    tasks = await query(store, "select business_key, state, due_at, attempt, error_msg, owner from instance_live")
    ended = [
        (row["state"], row["reason"], row["error_msg"])
        for one in waiting[:3]
        for row in await query(store, "select * from instance_history where business_key = $1", one.id)
    ]
    return f"not over: {waiting[:3]}, live {[dict(row) for row in tasks[:3]]}, ended {ended}"


async def publish_all(newsroom, store, run):
    people, dsn, nodes, client = newsroom
    chance = random.Random(11)
    began = datetime.now(UTC) + timedelta(seconds=1)
    authors = [Author(number, run, began, random.Random(chance.random())) for number in range(run.articles)]
    killing = asyncio.create_task(kill_now_and_then(nodes, run, began))
    await asyncio.gather(*(author.live(people) for author in authors))
    kills = await killing

    async def over():
        await asyncio.sleep(0.5)
        waiting = [one for one in articles_of(dsn) if one.status in {"PENDING_AUDIT", "AUDIT_SUCCESS"}]
        return not waiting and not await query(store, "select from instance_live")

    try:
        await until(over, 120)
    except AssertionError as error:
        raise AssertionError(await left(dsn, store)) from error
    articles, by_title = articles_of(dsn), {author.title: author for author in authors}
    assert len(articles) == run.articles
    assert wrong(articles, by_title) == []
    with psycopg.connect(dsn) as business:
        submitted = dict(business.execute("select title, submitted_at from article"))
    lost = {one.id: submitted[one.title] for one in articles if by_title[one.title].lost}
    repaired, rounds = repairs_of(client, lost)
    lates = [lateness(one, by_title[one.title], repaired) for one in articles if one.published]
    decisions = [told.decision for author in authors for told in author.told]
    found = report(lates, kills) | {word: decisions.count(word) for word in sorted(set(decisions))}
    found |= {"refused changes": sum(author.refused for author in authors), "lost": len(lost), "rounds": rounds}
    sys.stdout.write(f"{found}\n")
    assert found["late: p95"] < 2.0, found
    assert rounds <= ROUNDS, found
    assert lost, "one in a hundred"
    assert found["replaced"], "some authors came while it was under way"
    return found


@pytest.mark.timeout(600)
async def test_a_thousand_articles_are_each_published_once_at_their_last_acknowledged_time(newsroom, store):
    await publish_all(newsroom, store, SHORT)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_ten_thousand_articles_are_each_published_once_at_their_last_acknowledged_time(newsroom, store):
    await publish_all(newsroom, store, LONG)
