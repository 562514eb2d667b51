"""The answer to a poll is bounded in bytes as it goes over the wire."""

from horae.security.roles import Role
from horae.service.workers.answer_sizes import MAX_ANSWER_BYTES
from horae.upkeep.copies import Copier


async def test_a_poll_is_answered_with_a_bounded_number_of_bytes(store, admin, client):
    worker = await client(Role.WORKER)
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}})
    await Copier(store).once()
    for n in range(80):
        made = await admin.put(f"/tasks/MAIL/{n}", json={"payload": {"text": "x" * 65_000}})
        assert made.status_code in (200, 201), made.text
    polled = {"queue": "MAIL", "worker_id": "w", "limit": 1000}
    answers = [await worker.post("/workers/poll", json=polled) for _ in range(4)]
    assert all(len(answer.content) <= MAX_ANSWER_BYTES for answer in answers)
    handed = [len(answer.json()["items"]) for answer in answers]
    assert handed[0] > 50
    assert sum(handed) == 80
