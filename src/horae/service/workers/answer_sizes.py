"""Bounds the bytes of one answer to a worker: payloads of up to 64 KiB times 1,000 attempts would be 64 MiB."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import EncryptedValue
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job
from horae.domain.tasks.tasks import MAX_PAYLOAD_BYTES
from horae.store.workers.workers import QueueKey

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one answer: 64 of the largest attempts, or 1,000 with payloads of 3 KiB. An API process encodes it in one
piece, about 10 ms, and a worker has to download it before the deadlines of its attempts."""
ATTEMPT_BYTES: Final = 1024
"""Bytes of an attempt without its payload: ids, times, token, names; estimated."""
MAX_ATTEMPT_BYTES: Final = ATTEMPT_BYTES + MAX_PAYLOAD_BYTES
MAX_QUEUES: Final = 10_000
_encode = msgspec.json.Encoder().encode


class AnswerTooLarge(Exception):
    """The claimed attempts have too many bytes: the transaction is rolled back, and `fits` of them may be claimed."""

    def __init__(self, fits: int) -> None:
        super().__init__(f"only {fits} attempts fit into an answer")
        self.fits = fits


class AnswerSizes:
    """The average size of attempts at queues, as last seen. A hint: it saves claims that would be rolled back."""

    def __init__(self) -> None:
        self._average: OrderedDict[QueueKey, float] = OrderedDict()

    def most(self, queue: QueueKey, room: int) -> int:
        """How many attempts of a queue probably fit into the room; at least one into an empty answer."""
        return max(int(room >= MAX_ANSWER_BYTES), int(room / self._average.get(queue, 1.0)))

    def learn(self, queue: QueueKey, sizes: Sequence[int]) -> None:
        """Remember the average of attempts that were claimed; none says nothing."""
        if not sizes:
            return
        self._average.pop(queue, None)
        self._average[queue] = sum(sizes) / len(sizes)
        if len(self._average) > MAX_QUEUES:
            self._average.popitem(last=False)


def attempt_sizes(claimed: Iterable[Instance], known: Mapping[tuple[UUID, int], Job]) -> list[int]:
    """Returns the bytes of each attempt in an answer. An instance without a payload has the payload of its job."""
    of_job = {version: _payload_bytes(job.definition.payload) for version, job in known.items()}
    return [
        ATTEMPT_BYTES
        + (of_job.get((ran.job_id, ran.job_version), 0) if ran.payload is None else _payload_bytes(ran.payload))
        for ran in claimed
    ]


def fitting(sizes: Sequence[int], room: int) -> int:
    """Returns how many of the first attempts fit into the room. One alone always fits into an empty answer."""
    is_empty = room >= MAX_ANSWER_BYTES
    for number, size in enumerate(sizes):
        room -= size
        if room < 0 and (number or not is_empty):
            return number
    return len(sizes)


def _payload_bytes(payload: object) -> int:
    """Returns the bytes of a payload. Base64 makes the text of an encrypted one a third longer."""
    if payload is None:
        return 0
    if type(payload) is EncryptedValue:
        return len(payload.text) * 3 // 4
    return len(_encode(payload))
