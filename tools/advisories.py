"""Compares what is pinned with the advisories that are part of this tree: `make advisories`.

The advisories are in `requirements/advisories.json`, as OSV writes them, cut down to the parts that are pinned and to
the ranges of their versions. The list is partial: it knows what was published when somebody refreshed it, for PyPI
only. A deployer refreshes it from an export of OSV for PyPI, a folder or a zip file, without any network:
`make advisories FROM=all.zip`.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from packaging.utils import canonicalize_name
from packaging.version import Version

from locks import Pin, pins

ROOT = Path(__file__).parents[1]
LIST = ROOT / "requirements" / "advisories.json"
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
ECOSYSTEM = "PyPI"
NOTE = (
    "OSV records of the parts that requirements/*.txt pin, cut down to ids and ranges of versions. After the Python "
    "Packaging Advisory Database (CC BY 4.0). Partial: refresh it with `make advisories FROM=…`."
)


class Match(NamedTuple):
    """A pinned part that an advisory names."""

    pin: Pin
    advisory: str
    aliases: tuple[str, ...]


def all_pins() -> set[Pin]:
    """The parts of every lock."""
    return {pin for lock in LOCKS for pin in pins(lock)}


def find_matches(pinned: Iterable[Pin], advisories: Iterable[dict[str, Any]]) -> list[Match]:
    """Every pinned part with every advisory that names its version."""
    known = [(one, part) for one in advisories for part in one["affected"]]
    return sorted(
        Match(pin, one["id"], tuple(one.get("aliases", ())))
        for pin in pinned
        for one, part in known
        if name_of(part) == pin.name and is_affected(part, Version(pin.version))
    )


def name_of(part: dict[str, Any]) -> str:
    """The name of an affected part of PyPI; empty for others."""
    package = part.get("package", {})
    return canonicalize_name(package["name"]) if package.get("ecosystem") == ECOSYSTEM else ""


def is_affected(part: dict[str, Any], version: Version) -> bool:
    """Whether a version is listed, or lies in a range, as OSV reads its events: in order, the last one decides."""
    if str(version) in part.get("versions", ()):
        return True
    return any(_lies_in(one["events"], version) for one in part.get("ranges", ()) if one["type"] == "ECOSYSTEM")


def _lies_in(events: list[dict[str, str]], version: Version) -> bool:
    inside = False
    for kind, bound in sorted(((k, Version(v)) for event in events for k, v in event.items()), key=lambda e: e[1]):
        if kind == "introduced" and version >= bound:
            inside = True
        if (kind == "fixed" and version >= bound) or (kind == "last_affected" and version > bound):
            inside = False
    return inside


def read_export(path: Path) -> Iterator[dict[str, Any]]:
    """The records of an export of OSV: JSON files in a folder or in a zip file."""
    if path.is_dir():
        yield from (json.loads(file.read_bytes()) for file in sorted(path.glob("*.json")))
        return
    with ZipFile(path) as archive:
        yield from (json.loads(archive.read(name)) for name in sorted(archive.namelist()) if name.endswith(".json"))


def cut_down(record: dict[str, Any], names: set[str]) -> dict[str, Any] | None:
    """What is kept of a record; None where it was withdrawn or names no part of ours."""
    parts = []
    for part in record.get("affected", ()):
        if "withdrawn" not in record and name_of(part) in names:
            ranges = [{"type": one["type"], "events": one["events"]} for one in part.get("ranges", ())]
            kept = [one for one in ranges if one["type"] == "ECOSYSTEM"]
            package = {"ecosystem": ECOSYSTEM, "name": name_of(part)}
            parts.append({"package": package, **({"ranges": kept} if kept else {"versions": part.get("versions", [])})})
    if not parts:
        return None
    return {
        "id": record["id"],
        "aliases": sorted(record.get("aliases", ())),
        "modified": record["modified"],
        "affected": parts,
    }


def write_list(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write the list, a line each; the same records make the same bytes."""
    lines = ",\n".join(json.dumps(one) for one in sorted(records, key=lambda one: one["id"]))
    path.write_text(f'{{"note": {json.dumps(NOTE)}, "advisories": [\n{lines}\n]}}\n')


def main(words: list[str]) -> int:
    """Refresh the list where asked; then compare, and tell what was found."""
    pinned = all_pins()
    if words[:1] == ["--refresh"]:
        names = {pin.name for pin in pinned}
        write_list(LIST, filter(None, (cut_down(record, names) for record in read_export(Path(words[1])))))
    known = json.loads(LIST.read_text())["advisories"]
    found = find_matches(pinned, known)
    for match in found:
        print(f"{match.pin.name} {match.pin.version}: {match.advisory} ({', '.join(match.aliases)})")
    newest = max((one["modified"][:10] for one in known), default="never")
    print(f"{len(found)} of {len(pinned)} parts are affected by {len(known)} known advisories, the newest of {newest}")
    print("this list is partial: refresh it from OSV's export for PyPI with `make advisories FROM=all.zip`")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
