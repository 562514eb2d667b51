"""Forged bundles: what somebody may change without the key, with the key, and with the key and the whole audit log."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from horae.security.signing_keys import SigningKey
from tests.certificates import verifier
from tests.fire_audit.fleet import Row

OTHER_KEY = SigningKey(b"a key of somebody else, who signs"[:32])
COMPUTED = ("plain", "all", "none", "alone", "closed", "spread")
"""Jobs whose fires the script computes, and whose version was in force on the whole day."""


class Bundle(NamedTuple):
    """The documents of a bundle."""

    certificate: Row
    evidence: Row
    signature: Row
    chain: Row


class Power(IntEnum):
    """What a forger can do beside changing a document."""

    NONE = 0
    """Nothing else."""
    DIGEST = 1
    """Put the digest of the changed evidence into the certificate."""
    KEY = 2
    """Sign the changed certificate with the key of the deployment."""
    CHAIN = 3
    """Write the audit log anew as well, where nobody has kept an anchor."""


class Forgery(NamedTuple):
    """A change of a bundle, and up to which power it is found."""

    change: Callable[[Bundle, random.Random], None]
    found_up_to: Power


def read_bundle(path: Path) -> Bundle:
    with zipfile.ZipFile(path) as files:
        return Bundle(*(json.loads(files.read(f"{name}.json")) for name in Bundle._fields))


def write_bundle(path: Path, bundle: Bundle) -> None:
    with zipfile.ZipFile(path, "w") as files:
        for name, content in bundle._asdict().items():
            files.writestr(f"{name}.json", to_bytes(content))


def forge(true: Bundle, forgery: Forgery, power: Power, key: SigningKey, dice: random.Random) -> Bundle:
    """Change a copy of a bundle, and make it agree with itself as far as the forger can."""
    bundle = deepcopy(true)
    forgery.change(bundle, dice)
    if power >= Power.DIGEST:
        bundle.certificate["evidence"] = sha256(to_bytes(bundle.evidence)).hexdigest()
    if power >= Power.KEY:
        bundle.signature["signature"] = key.sign(to_bytes(bundle.certificate)).hex()
    if power >= Power.CHAIN:
        _chain_anew(bundle)
    return bundle


def forgeries(many: int) -> Iterator[tuple[str, Forgery, Power, random.Random]]:
    """Every change with every power that it is found up to, in turn, each time with other dice.

    The greatest power comes first, then none: these are the two ends, and enough for a short run.
    """
    order = (Power.CHAIN, Power.NONE, Power.KEY, Power.DIGEST)
    kinds = [(name, one, power) for power in order for name, one in FORGERIES.items() if power <= one.found_up_to]
    for seed in range(many):
        yield (*kinds[seed % len(kinds)], random.Random(seed))


def to_bytes(content: Row) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _chain_anew(bundle: Bundle) -> None:
    chain, digest = bundle.chain, sha256(to_bytes(bundle.certificate)).hexdigest()
    own = next(row for row in chain["rows"] if row["id"] == chain["audit_id"])
    own["detail"] = json.dumps({**json.loads(own["detail"]), "digest": digest})
    encoded = (" ".join(str(part) for part in _head(row)).encode() + b"\n" + _texts(row) for row in chain["rows"])
    previous = chain["blocks"][0]["previous"]
    chain["blocks"][0]["digest"] = sha256(b"".join(encoded)).hexdigest()
    for block in chain["blocks"]:
        block["previous"] = previous
        hashes = {name: bytes.fromhex(block[name]) for name in ("digest", "previous", "hash")}
        previous = block["hash"] = _hash(chain["cell"], {**block, **hashes})
    chain["anchor"] = None


def _head(row: Row) -> list[Any]:
    lengths = [len(row[name].encode()) for name in ("actor", "action", "resource", "detail")]
    return [row["xid"], row["at"], row["shard_id"], row["id"], row["tenant_id"], *lengths]


def _texts(row: Row) -> bytes:
    return "".join(row[name] for name in ("actor", "action", "resource", "detail")).encode() + b"\n"


def _hash(cell: str, block: Row) -> str:
    said = ["horae audit block", cell, *(block[name] for name in ("number", "sealed_at", "from_xid", "until_xid"))]
    said += [block["entries"], block["digest"].hex(), block["previous"].hex()]
    return sha256(" ".join(map(str, said)).encode()).hexdigest()


def _fired(bundle: Bundle, dice: random.Random, *states: str) -> tuple[Row, Row]:
    """A job and a row of its schedule in one of these states, which is the only row of its fire."""
    found = [
        (job, row)
        for job in bundle.evidence["jobs"]
        for row in job.get("rows", [])
        if row["state"] in states and row["fire_time"] in job["fires"] and _is_only(job, row)
    ]
    return dice.choice(found)


def _is_only(job: Row, row: Row) -> bool:
    at = row["fire_time"]
    return sum(other["fire_time"] <= at <= other.get("range_to", other["fire_time"]) for other in job["rows"]) == 1


def _remove_row(bundle: Bundle, dice: random.Random) -> None:
    job, row = _fired(bundle, dice, "SUCCESS", "SKIPPED")
    job["rows"].remove(row)


def _remove_fire(bundle: Bundle, dice: random.Random) -> None:
    """The row, and the fire from the list and from all numbers: only its definition still knows of it."""
    job, row = _fired(bundle, dice, "SUCCESS")
    job["rows"].remove(row)
    job["fires"].remove(row["fire_time"])
    name = "on_time" if verifier.is_on_time(row) else "late"
    own = next(one for one in bundle.certificate["jobs"] if one["id"] == job["id"])
    for counts in (bundle.certificate["total"], own["counts"]):
        counts["expected"] -= 1
        counts[name] -= 1


def _revive(bundle: Bundle, dice: random.Random) -> None:
    _, row = _fired(bundle, dice, "DEAD")
    row.update(state="SUCCESS", delay_ms=5)


def _skip(bundle: Bundle, dice: random.Random) -> None:
    _, row = _fired(bundle, dice, "SUCCESS")
    row.update(state="SKIPPED", reason="PAUSED")


def _change_reason(bundle: Bundle, dice: random.Random) -> None:
    _, row = _fired(bundle, dice, "SKIPPED")
    row["reason"] = "DECLINED"


def _move_time(bundle: Bundle, dice: random.Random) -> None:
    _, row = _fired(bundle, dice, "SUCCESS")
    row["fire_time"] = row["fire_time"][:14] + f"{dice.randrange(41, 59)}:01Z"


def _hurry(bundle: Bundle, dice: random.Random) -> None:
    """A late one is said to have been on time, or the other way round."""
    _, row = _fired(bundle, dice, "SUCCESS")
    row.update(due_at=row["fire_time"], delay_ms=60_000 if verifier.is_on_time(row) else 5)


def _alter_version(bundle: Bundle, dice: random.Random) -> None:
    job = dice.choice([job for job in bundle.evidence["jobs"] if job["name"] in COMPUTED])
    job["versions"][-1]["trigger"]["expression"] = f"{dice.randrange(1, 59)} */6 * * *"


def _change_count(bundle: Bundle, dice: random.Random) -> None:
    dice.choice(bundle.certificate["jobs"])["counts"]["on_time"] += dice.randrange(1, 9)


def _change_total(bundle: Bundle, dice: random.Random) -> None:
    bundle.certificate["total"][dice.choice(["expected", "late", "dead", "missing"])] += 1


def _remove_job(bundle: Bundle, dice: random.Random) -> None:
    bundle.evidence["jobs"].pop(dice.randrange(len(bundle.evidence["jobs"])))


def _other_day(bundle: Bundle, dice: random.Random) -> None:
    bundle.certificate["day"] = f"2030-03-{dice.randrange(10, 29)}"


def _other_tenant(bundle: Bundle, dice: random.Random) -> None:
    bundle.certificate["tenant"] = f"tenant-{dice.randrange(99)}"


def _sign_by_another_key(bundle: Bundle, _dice: random.Random) -> None:
    bundle.certificate["key"] = OTHER_KEY.id
    signature = OTHER_KEY.sign(to_bytes(bundle.certificate)).hex()
    bundle.signature.update(key=OTHER_KEY.id, public=OTHER_KEY.public.hex(), signature=signature)


def _flip_signature(bundle: Bundle, dice: random.Random) -> None:
    changed = bytearray.fromhex(bundle.signature["signature"])
    changed[dice.randrange(64)] ^= 1 << dice.randrange(8)
    bundle.signature["signature"] = changed.hex()


def _cut_chain(bundle: Bundle, dice: random.Random) -> None:
    bundle.chain["blocks"].pop(dice.randrange(len(bundle.chain["blocks"])))


def _change_block(bundle: Bundle, dice: random.Random) -> None:
    block = dice.choice(bundle.chain["blocks"])
    block[dice.choice(["sealed_at", "until_xid", "entries", "number"])] += 1


def _change_audit_row(bundle: Bundle, dice: random.Random) -> None:
    dice.choice(bundle.chain["rows"])[dice.choice(["actor", "action", "resource"])] += "x"


def _drop_audit_row(bundle: Bundle, _dice: random.Random) -> None:
    bundle.chain["rows"].clear()


def _invent_chain(bundle: Bundle, _dice: random.Random) -> None:
    """Another time of the first block, and everything after it computed anew: only a kept anchor tells."""
    bundle.chain["blocks"][0]["sealed_at"] += 1
    _chain_anew(bundle)


FORGERIES = {
    "row removed": Forgery(_remove_row, Power.CHAIN),
    "fire removed": Forgery(_remove_fire, Power.CHAIN),
    "dead said to have succeeded": Forgery(_revive, Power.CHAIN),
    "run said to be skipped": Forgery(_skip, Power.CHAIN),
    "reason changed": Forgery(_change_reason, Power.CHAIN),
    "time moved": Forgery(_move_time, Power.CHAIN),
    "lateness changed": Forgery(_hurry, Power.CHAIN),
    "version altered": Forgery(_alter_version, Power.CHAIN),
    "count changed": Forgery(_change_count, Power.CHAIN),
    "total changed": Forgery(_change_total, Power.CHAIN),
    "job removed": Forgery(_remove_job, Power.CHAIN),
    "other day": Forgery(_other_day, Power.CHAIN),
    "other tenant": Forgery(_other_tenant, Power.CHAIN),
    "signed by another key": Forgery(_sign_by_another_key, Power.NONE),
    "signature changed": Forgery(_flip_signature, Power.NONE),
    "chain cut": Forgery(_cut_chain, Power.NONE),
    "block changed": Forgery(_change_block, Power.NONE),
    "audit row changed": Forgery(_change_audit_row, Power.NONE),
    "audit row dropped": Forgery(_drop_audit_row, Power.NONE),
    "chain invented": Forgery(_invent_chain, Power.NONE),
}
