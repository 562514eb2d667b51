"""Verifies the bundle of a Horae certificate: `python verify_certificate.py BUNDLE PUBLIC_KEY [ANCHORS]`.

It imports nothing of Horae. PUBLIC_KEY is what `horae keyring show` prints, ANCHORS a file of anchors. It ends with 0
and what it checked, or with 1 and a sentence that says what is wrong.
"""

import hashlib
import json
import sys
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, BASE = -121665 * pow(121666, -1, P) % P, (4 * pow(5, -1, P) % P).to_bytes(32, "little")
TICK, DAY, NEVER = timedelta(microseconds=1), timedelta(days=1), datetime.max.replace(tzinfo=UTC)
RANKS = ["on_time", "late", "waiting", "dead", "cancelled", "skipped", "undecided", "missing"]


def check(holds, sentence):
    return holds or sys.exit("WRONG: " + sentence)


def add(a, b):  # two points of the curve of Ed25519
    k = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + a[1] * b[0]) * pow(1 + k, -1, P) % P
    return x, (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P


def times(number, point):
    rest = times(number >> 1, add(point, point)) if number else (0, 1)
    return add(rest, point) if number & 1 else rest


def point_of(text):
    y = int.from_bytes(text, "little") & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    check(len(text) == 32 and y < P and (x * x - square) % P == 0, "a key or a signature is no point of the curve")
    return (x if x & 1 == text[31] >> 7 else P - x), y


def is_signed(public, content, signature):
    number = int.from_bytes(signature[32:], "little")
    share = int.from_bytes(hashlib.sha512(signature[:32] + public + content).digest(), "little") % ORDER
    signed = add(point_of(signature[:32]), times(share, point_of(public)))
    return len(signature) == 64 and number < ORDER and signed == times(number, point_of(BASE))


def check_chain(chain, digest, anchors):
    blocks, rows, encoded = chain["blocks"], chain["rows"], hashlib.sha256()
    own = [row for row in rows if row["id"] == chain["audit_id"]]
    check(len(own) == 1 and blocks, "the chain does not hold the audit row of the certificate")
    check(json.loads(own[0]["detail"])["digest"] == digest, "the audit log has another digest of the certificate")
    for row in rows:
        texts = [row[name].encode() for name in ("actor", "action", "resource", "detail")]
        head = [row[name] for name in ("xid", "at", "shard_id", "id", "tenant_id")] + [len(text) for text in texts]
        encoded.update(" ".join(map(str, head)).encode() + b"\n" + b"".join(texts) + b"\n")
    check(encoded.hexdigest() == blocks[0]["digest"], f"the audit rows of block {blocks[0]['number']} were changed")
    for before, block in zip([None, *blocks], blocks, strict=False):
        facts = [block[name] for name in "number sealed_at from_xid until_xid entries digest previous".split()]
        text = " ".join(map(str, ["horae audit block", chain["cell"], *facts]))
        check(hashlib.sha256(text.encode()).hexdigest() == block["hash"], f"block {block['number']} was changed")
        linked = not before or (before["hash"], before["number"] + 1) == (block["previous"], block["number"])
        check(linked, f"the chain was cut before block {block['number']}")
    hashes = {block["number"]: block["hash"] for block in blocks}
    known = [one for one in anchors if one["cell"] == chain["cell"] and one["number"] in hashes]
    check(known or not anchors, "none of your anchors is in the chain")
    for one in [*known, *([chain["anchor"]] if chain["anchor"] else [])]:
        check(hashes.get(one["number"]) == one["hash"], f"block {one['number']} is not the one that was anchored")
    return f"Block {blocks[-1]['number']} of {chain['cell']} has the hash {blocks[-1]['hash']}."


def moment(text):
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def values(text, low, high):
    found = set()
    for item in text.split(","):
        scope, _, step = item.replace("*", f"{low}-{high}").partition("/")
        first, _, last = scope.partition("-")
        found.update(range(int(first), int(last or (high if step else first)) + 1, int(step or 1)) or [int("none")])
    return found


def fires(version, begin, end):
    """The fires from begin to end (excluded); raises ValueError where this script cannot compute them."""
    trigger, policies = version["trigger"], version["policies"] or {}
    begin, end = max(begin, moment(policies.get("start")) or begin), min(end, moment(policies.get("end")) or end)
    if trigger["kind"] == "interval":
        step, anchor = timedelta(seconds=trigger["every"]), moment(trigger["anchor"])
        return [anchor + k * step for k in range(max(0, -((anchor - begin) // step)), -((anchor - end) // step))]
    texts, unix, here = trigger["expression"].split(), trigger["dialect"] == "unix5", ZoneInfo(trigger["zone"])
    [offset, *others] = {(begin + timedelta(hours=k)).astimezone(here).utcoffset() for k in range(25)}
    if others or len(texts) != 6 - unix or not (unix or trigger["dialect"] == "spring6"):
        raise ValueError("the clocks change, or it is another dialect")
    bounds = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (1 - unix, 7)]
    s, m, h, days, months, weekdays = map(values, ["0"] * unix + texts, *zip(*bounds, strict=True))
    either = unix and not (texts[2].startswith("*") or texts[4].startswith("*"))
    shifts = [timedelta(hours=x, minutes=y, seconds=z) - offset for x in h for y in m for z in s]
    day, found = (begin + offset).replace(hour=0, minute=0, second=0, microsecond=0), []
    while day - offset < end:
        fits = [day.day in days, bool({day.isoweekday(), day.isoweekday() % 7} & weekdays)]
        if day.month in months and (any(fits) if either else all(fits)):
            found += [day + shift for shift in shifts if begin <= day + shift < end]
        day += DAY
    return found


def pauses(events):
    begun = None
    for one in [*events, {"action": "end"}]:
        if one["action"].endswith(".paused") or one.get("paused"):
            begun = one
        elif begun and one["action"].endswith(("end", ".resumed")):
            yield moment(one.get("held_from") or begun.get("held_from") or begun["at"]), moment(one.get("at"))
            begun = None


def schedule(job, begin, end):
    events, versions, found = job.get("events", []), job["versions"], set()
    rules = [(one, moment(one["created_at"])) for one in versions if one["trigger"]["kind"] in ("cron", "interval")]
    for one, since in rules:
        ends = [moment(other["created_at"]) for other in versions if other["version"] > one["version"]]
        until = min([NEVER, *ends, *(moment(event["at"]) for event in events if event["action"] == "job.removed")])
        moved = {moment(o["at"]): moment(o.get("to")) for o in one["overrides"] or []}
        for at in fires(one, max(begin, since + TICK), end):
            decided = min(at, moved.get(at) or at)
            is_held = any(stood <= decided <= (ended or NEVER) for stood, ended in pauses(events))
            found |= {at} if begin - DAY <= decided <= until and not is_held else set()
    for stood, ended in pauses(events):
        rule = [one for one, since in rules if ended and since < ended][-1:]
        found.update(*(fires(one, max(stood, begin), min(end, ended + TICK)) for one in rule))
    return found


def result_of(row):
    if row["state"] != "SUCCESS":
        return (row["state"].lower() if row["state"].lower() in RANKS else "waiting"), row.get("reason")
    fire, due, made = moment(row["fire_time"]), moment(row["due_at"]), int(row["id"].replace("-", "")[:12], 16)
    in_time = due <= fire or made - fire.timestamp() * 1000 <= 10_000 + row.get("held_ms", 0)
    return ("on_time" if in_time and row.get("delay_ms", 10_001) <= 10_000 else "late"), None


def recount(job, begin):
    absent, rows = {moment(one["at"]): one["why"] for one in job.get("absent", [])}, {}
    listed, counts, skipped = set(map(moment, job.get("fires", []))), Counter(), Counter()
    for row in job.get("rows", []):
        first, last, key = moment(row["fire_time"]), moment(row.get("range_to")), row["idem_key"].partition(":")[2]
        own = [first] if key[:1].isdigit() and ":" not in key else []  # neither by hand nor run again by a backfill
        for at in own if row.get("range_count", 1) == 1 else [at for at in listed if first <= at <= last]:
            rows.setdefault(at, []).append(row)
    for at in listed:
        check((at in rows) != (at in absent), f"{job['name']}: {at} has a row and is said to have none, or neither")
        known = sorted(map(result_of, rows.get(at, [])), key=lambda one: RANKS.index(one[0]))
        result, reason = known[0] if known else (absent[at], None)
        skipped.update([reason] if result == "skipped" else [])
        counts.update([] if result in ("skipped", "not_owed") else [result])
    counts["expected"] = counts.total() + skipped.total()
    try:
        differ = sorted(schedule(job, begin, begin + DAY) ^ listed)
        check(not differ, f"{job['name']}: definition and evidence differ at {' '.join(map(str, differ[:1]))}")
    except (ValueError, ZoneInfoNotFoundError):
        differ = None
    return {**dict.fromkeys(RANKS, 0), **counts, "skipped": dict(skipped)}, differ is not None


def verify(path, public, anchors=None):
    bundle = zipfile.ZipFile(path)
    signed, evidence = bundle.read("certificate.json"), bundle.read("evidence.json")
    said, certificate, day = json.loads(bundle.read("signature.json")), json.loads(signed), json.loads(evidence)
    check((said["public"], certificate["key"]) == (public, said["key"]), "it was signed by another key than yours")
    check(is_signed(bytes.fromhex(public), signed, bytes.fromhex(said["signature"])), "the signature does not hold")
    check(hashlib.sha256(evidence).hexdigest() == certificate["evidence"], "the evidence was changed")
    check(all(certificate[n] == day[n] for n in ("tenant_id", "tenant", "day", "read_at")), "they are of two days")
    known = [json.loads(line) for line in Path(anchors).read_text().splitlines()] if anchors else []
    last = check_chain(json.loads(bundle.read("chain.json")), hashlib.sha256(signed).hexdigest(), known)
    total, skipped, uncomputed = Counter(dict.fromkeys(["expected", *RANKS], 0)), Counter(), []
    for job, said in zip(day["jobs"], certificate["jobs"], strict=True):
        counts, is_computed = recount(job, moment(day["day"] + "T00:00:00Z"))
        check((job["id"], counts) == (said["id"], said["counts"]), f"{job['name']}: its rows give {counts}")
        found = [one["fault"] for one in certificate["findings"] if one["job_id"] == job["id"]].count("MISSING")
        check(found == counts["missing"], f"{job['name']}: {counts['missing']} are missing, {found} are findings")
        uncomputed += [] if is_computed else [job["name"]]
        skipped.update(counts.pop("skipped"))
        total.update(counts)
    check({**total, "skipped": dict(skipped)} == certificate["total"], "the total is not the sum")
    print(f"OK: {certificate['tenant']} on {day['day']}: {json.dumps(certificate['total'])}.")
    print(f"{len(certificate['findings'])} findings. Not computed from definitions: {uncomputed or 'none'}. {last}")


if __name__ == "__main__":
    try:
        verify(*sys.argv[1:])
    except (KeyError, ValueError, TypeError, AttributeError, OSError, zipfile.BadZipFile) as error:
        check(False, f"the bundle cannot be read: {error!r}")
