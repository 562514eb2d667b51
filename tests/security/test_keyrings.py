"""A keyring is its owner's file; a new key comes into use without a restart, and old ones go on to open."""

import os
from pathlib import Path
from uuid import uuid4

import pytest

from horae.domain.errors import Conflict, Invalid, KeysUnavailable, Unopenable
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring


@pytest.fixture
def path(tmp_path: Path) -> Path:
    keyrings.create(tmp_path / "keyring.json", "first")
    return tmp_path / "keyring.json"


async def test_what_one_process_wraps_another_unwraps(path):
    tenant = uuid4()
    wrapped = await Keks([Keyring(path)]).make(tenant, 1)
    assert wrapped.startswith("keyring:first:")
    key = await Keks([Keyring(path)]).unwrap(tenant, 1, wrapped)
    assert (key.tenant_id, key.version) == (tenant, 1)


async def test_a_new_key_comes_into_use_without_a_restart(path):
    tenant, running = uuid4(), Keks([Keyring(path)])
    old = await running.make(tenant, 1)
    keyrings.rotate(path, "second")
    assert await running.current() == "keyring:second:"
    new = await running.rewrap(old)
    assert new.startswith("keyring:second:")
    for wrapped in (old, new):
        await running.unwrap(tenant, 1, wrapped)


async def test_a_process_that_read_an_old_file_reads_it_again_for_a_name_it_does_not_know(path):
    tenant, slow = uuid4(), Keyring(path)
    keyrings.rotate(path, "second")
    wrapped = await Keks([Keyring(path)]).make(tenant, 1)
    assert await slow.unwrap(wrapped.removeprefix("keyring:"))


async def test_a_key_in_another_tenants_row_is_refused(path):
    keks, tenant = Keks([Keyring(path)]), uuid4()
    wrapped = await keks.make(tenant, 1)
    for who in ((uuid4(), 1), (tenant, 2)):
        with pytest.raises(Unopenable):
            await keks.unwrap(*who, wrapped)


async def test_a_wrapped_key_that_was_changed_is_refused(path):
    keks, tenant = Keks([Keyring(path)]), uuid4()
    wrapped = await keks.make(tenant, 1)
    with pytest.raises(Unopenable):
        await keks.unwrap(tenant, 1, wrapped[:-4] + "AAAA")
    with pytest.raises(KeysUnavailable):
        await keks.unwrap(tenant, 1, wrapped.replace(":first:", ":never:"))
    with pytest.raises(KeysUnavailable):
        await keks.unwrap(tenant, 1, wrapped.replace("keyring:", "elsewhere:"))


async def test_a_file_that_is_gone_for_a_moment_changes_nothing(path):
    tenant, running = uuid4(), Keks([Keyring(path)])
    path.rename(path.with_suffix(".away"))
    assert await running.unwrap(tenant, 1, await running.make(tenant, 1))


def test_only_the_owner_may_read_it(path):
    assert path.stat().st_mode & 0o777 == 0o600
    keyrings.rotate(path, "second")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(Invalid, match="chmod 600"):
        Keyring(path)


@pytest.mark.parametrize(
    ("mode", "owner", "reader", "refused"),
    [
        (0o600, 10001, 10001, False),
        (0o400, 0, 0, False),
        (0o440, 0, 10001, False),
        (0o640, 0, 10001, False),
        (0o440, 0, 0, True),
        (0o440, 10001, 10001, True),
        (0o660, 0, 10001, True),
        (0o444, 0, 10001, True),
    ],
)
def test_a_file_of_root_may_be_readable_by_the_group_of_the_process(mode, owner, reader, refused):
    assert keyrings.is_open_to_others(0o100000 | mode, owner, reader) is refused


def test_nothing_is_overwritten(path):
    before = path.read_bytes()
    with pytest.raises(Conflict):
        keyrings.create(path, "again")
    with pytest.raises(Conflict):
        keyrings.rotate(path, "first")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"current": "a", "keys": {}}', '{"current":"a","keys":{"a":"c2hvcnQ="}}']
)
def test_what_is_no_keyring_is_refused_without_being_repeated(tmp_path, text):
    path = tmp_path / "ring"
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(Invalid, match="no keyring") as refused:
        Keyring(path)
    assert "c2hvcnQ" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(Invalid, match="nowhere"):
        Keyring(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", "a:b", "a b", "é", "x" * 61])
def test_names_that_could_not_be_told_apart_are_refused(tmp_path, name):
    with pytest.raises(Invalid):
        keyrings.create(tmp_path / "ring", name)
    assert not os.listdir(tmp_path)


def test_a_ring_shows_its_keys_to_nobody(path):
    import base64
    import json

    key = next(iter(json.loads(path.read_text())["keys"].values()))
    shown = repr(keyrings.load(path))
    assert key not in shown
    assert repr(base64.b64decode(key)) not in shown


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o640), lambda path: path.write_text('{"current": ')])
async def test_a_file_that_is_spoilt_for_a_moment_changes_nothing(path, spoil):
    """What it said last holds until it is whole again, although its time of change may stay the same."""
    tenant, running, new = uuid4(), Keks([Keyring(path)]), path.with_name("new")
    old = await running.make(tenant, 1)
    new.touch(mode=0o600)
    new.write_bytes(path.read_bytes())
    keyrings.rotate(new, "second")
    unknown = await Keks([Keyring(new)]).make(tenant, 2)
    whole = new.read_bytes()
    path.write_bytes(whole)
    spoil(path)
    assert await running.unwrap(tenant, 1, old)
    assert (await running.make(tenant, 3)).startswith("keyring:first:")
    with pytest.raises(KeysUnavailable):
        await running.unwrap(tenant, 2, unknown)
    if path.read_bytes() != whole:
        path.write_bytes(whole)
    path.chmod(0o600)
    assert await running.unwrap(tenant, 2, unknown)


class BrokenKek:
    """A provider that fails in a way of its own."""

    name = "broken"

    async def current(self):
        raise RuntimeError("no answer")

    async def wrap(self, clear):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no text")

    async def unwrap(self, wrapped):
        raise PermissionError("not yours")

    rewrap = unwrap


async def test_whatever_a_provider_fails_with_its_keys_are_unavailable():
    keks = Keks([BrokenKek()])
    for asked in (keks.current(), keks.make(uuid4(), 1), keks.unwrap(uuid4(), 1, "broken:x"), keks.rewrap("broken:x")):
        with pytest.raises(KeysUnavailable):
            await asked
