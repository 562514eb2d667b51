"""Many things asked for at once go out in requests that the server reads, by number and by bytes."""

from datetime import UTC, datetime

from horae_client import Keyed, Put
from horae_client.asked import sources, subjects, tasks
from horae_client.models import TaskAnswers
from horae_client.specs import Cancel, Listed
from horae_client.wire import MAX_BODY_BYTES

LARGEST_BODY = 256 * 1024
AT = datetime(2035, 1, 1, tzinfo=UTC)


def test_tasks_with_payloads_are_all_answered(client):
    client.jobs.create("T", trigger=Keyed())
    puts = [Put(f"k-{n}", payload={"text": "x" * 1000}) for n in range(600)]
    answers = client.tasks.schedule_many("T", puts)
    assert [one.key for one in answers] == [one.key for one in puts]


def test_no_request_is_larger_than_the_server_reads():
    long = ["键" * 200] * 2000
    puts = [Put("k", payload="x" * 60_000)] * 10
    made = [*tasks.schedule_many("T", puts), *tasks.cancel_many("T", [Cancel(key) for key in long])]
    made += [subjects.add("J", part, False) for part in subjects.parts(iter(long))]
    made += [sources.push("T", "r", *page, False) for page in sources.pages(Listed(key, AT) for key in long)]
    assert all(len(request.content()) < LARGEST_BODY for request in made)
    assert all(request.reads is TaskAnswers for request in made[:3])


def test_pages_of_a_source_follow_each_other_and_there_is_at_least_one():
    items = [Listed(f"{n:04}", AT, payload="x" * 1000) for n in range(500)]
    pages = list(sources.pages(items))
    assert [one for page, _, _ in pages for one in page] == items
    assert [after for _, after, _ in pages] == ["", *(page[-1].key for page, _, _ in pages[:-1])]
    assert [last for _, _, last in pages] == [False] * (len(pages) - 1) + [True]
    assert list(sources.pages([])) == [([], "", True)]
    assert MAX_BODY_BYTES < LARGEST_BODY
