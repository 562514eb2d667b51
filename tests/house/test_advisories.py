"""What is pinned is compared with the advisories in this tree, and a deployer can refresh them."""

import importlib.util
import json
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


@pytest.fixture(scope="module")
def advisories():
    """The tool as a module."""
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("advisories", TOOLS / "advisories.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(TOOLS))
        sys.modules.pop("advisories", None)
        sys.modules.pop("locks", None)


def record(name, *events, ecosystem="PyPI", **facts):
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}]
    affected = [{"package": {"ecosystem": ecosystem, "name": name}, "ranges": ranges}]
    return {"id": "TEST-1", "modified": "2026-01-01T00:00:00Z", "affected": affected} | facts


def test_no_pinned_part_has_an_advisory_that_is_known_here(advisories, capsys):
    assert advisories.main([]) == 0, capsys.readouterr().out
    assert "this list is partial" in capsys.readouterr().out


def test_every_known_advisory_would_be_found_at_the_version_before_its_fix(advisories):
    known = json.loads(advisories.LIST.read_text())["advisories"]
    pinned = {pin.name: pin for pin in advisories.all_pins()}
    assert len(known) >= 10
    for one in known:
        [part] = one["affected"]
        first = part["ranges"][0]["events"][0]["introduced"]
        old = pinned[part["package"]["name"]]._replace(version=first)
        assert one["id"] in {match.advisory for match in advisories.find_matches([old], [one])}


def test_a_pinned_part_that_is_affected_fails_the_scan_and_is_named(advisories, capsys, monkeypatch, tmp_path):
    pin = min(advisories.all_pins())
    monkeypatch.setattr(advisories, "LIST", tmp_path / "advisories.json")
    advisories.write_list(advisories.LIST, [record(pin.name, {"introduced": "0"}, aliases=["CVE-1"])])
    assert advisories.main([]) == 1
    assert f"{pin.name} {pin.version}: TEST-1 (CVE-1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("events", "inside", "outside"),
    [
        ([{"introduced": "0"}], ["0.1", "9"], []),
        ([{"introduced": "0"}, {"fixed": "1.10"}], ["1.9", "1.10rc1"], ["1.10", "2"]),
        ([{"introduced": "2"}, {"last_affected": "2.5"}], ["2", "2.5"], ["1.9", "2.5.1"]),
        (
            [{"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "2"}, {"fixed": "2.3"}],
            ["1.1", "2.2"],
            ["1.5", "2.3"],
        ),
    ],
)
def test_ranges_are_read_as_osv_reads_them(advisories, events, inside, outside):
    [part] = record("part", *events)["affected"]
    assert all(advisories.is_affected(part, Version(version)) for version in inside)
    assert not any(advisories.is_affected(part, Version(version)) for version in outside)


@pytest.mark.parametrize("packed", [False, True])
def test_a_deployer_refreshes_the_list_from_an_export(advisories, capsys, monkeypatch, tmp_path, packed):
    pin = min(advisories.all_pins())
    records = {
        "ours": record(pin.name.upper(), {"introduced": "0"}, {"fixed": pin.version}, id="OURS", details="long"),
        "listed": {
            "id": "LISTED",
            "modified": "2026-02-02T00:00:00Z",
            "affected": [{"package": {"ecosystem": "PyPI", "name": pin.name}, "versions": [pin.version]}],
        },
        "withdrawn": record(pin.name, {"introduced": "0"}, id="WITHDRAWN", withdrawn="2026-01-01T00:00:00Z"),
        "foreign": record("no-part-of-ours", {"introduced": "0"}, id="FOREIGN"),
        "npm": record(pin.name, {"introduced": "0"}, id="NPM", ecosystem="npm"),
    }
    export = tmp_path / ("all.zip" if packed else "export")
    if packed:
        with ZipFile(export, "w") as archive:
            for name, one in records.items():
                archive.writestr(f"{name}.json", json.dumps(one))
    else:
        export.mkdir()
        for name, one in records.items():
            (export / f"{name}.json").write_text(json.dumps(one))
    monkeypatch.setattr(advisories, "LIST", tmp_path / "advisories.json")
    assert advisories.main(["--refresh", str(export)]) == 1
    told = capsys.readouterr().out
    assert f"{pin.name} {pin.version}: LISTED" in told
    assert "the newest of 2026-02-02" in told
    kept = json.loads(advisories.LIST.read_text())["advisories"]
    assert [one["id"] for one in kept] == ["LISTED", "OURS"]
    assert "details" not in kept[1]
