"""ContextList: a file that only its owner reads, keys that are never arguments, and which of them commands use."""

import json
import stat

import pytest
from typer.testing import CliRunner

from horae.boot import contexts
from horae.boot.cli import whole
from horae.boot.contexts import ENVIRONMENT, ContextList, chosen, load, named, save
from horae.domain.errors import Invalid, NotFound

KEY = "horae_k3y"


@pytest.fixture
def file(tmp_path, monkeypatch):
    for name in ("HORAE_URL", "HORAE_KEY", "HORAE_KEY_FILE", "HORAE_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HORAE_CONTEXTS", str(tmp_path / "folder" / "contexts.toml"))
    return tmp_path / "folder" / "contexts.toml"


def call(*words, status=0, said=None):
    done = CliRunner().invoke(whole(), words, input=said)
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout if status == 0 else done.stderr


def test_contexts_are_added_used_listed_and_removed_without_their_keys_in_sight(file):
    assert "there are no contexts" in call("context", "list")
    call("context", "add", "test", "https://test.example.com/", "--no-check", said=f"{KEY}\n")
    call("context", "add", "live", "https://live.example.com", "--no-check", said="other\n")
    assert chosen().url == "https://live.example.com"
    call("context", "use", "test")
    assert (chosen().url, chosen().key) == ("https://test.example.com", KEY)
    listed = call("context", "list", "--json")
    assert [(one["name"], one["current"]) for one in json.loads(listed)] == [("live", False), ("test", True)]
    assert KEY not in listed + call("context", "list")
    call("context", "remove", "test")
    assert load().current is None
    assert "SCH_404_NOT_FOUND" in call("context", "use", "test", status=3)
    assert "is no name" in call("context", "add", "a b", "https://x.example.com", "--no-check", said="k\n", status=1)


def test_the_file_is_for_its_owner_alone_and_refused_otherwise(file):
    save(ContextList().added(named("a", "https://a.example.com", KEY)))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o640)
    assert "chmod 600" in call("job", "list", status=1)
    with pytest.raises(Invalid, match="mode 0640"):
        load()
    file.chmod(0o600)
    file.write_text("current = [")
    with pytest.raises(Invalid, match="cannot be read"):
        load()


def test_the_environment_goes_before_a_context_and_both_halves_of_it_are_needed(file, tmp_path):
    save(ContextList().added(named("a", "https://a.example.com", KEY)).added(named("b", "https://b.example.com", KEY)))
    place = {"HORAE_CONTEXTS": str(file)}
    assert chosen(place).name == "b"
    assert chosen(place | {"HORAE_CONTEXT": "a"}).name == "a"
    found = chosen(place | {"HORAE_URL": "http://127.0.0.1:1", "HORAE_KEY": "k"})
    assert (found.name, found.url) == (ENVIRONMENT, "http://127.0.0.1:1")
    (tmp_path / "key").write_text("from a file\n")
    found = chosen(place | {"HORAE_URL": "http://127.0.0.1:1", "HORAE_KEY_FILE": str(tmp_path / "key")})
    assert found.key == "from a file"
    with pytest.raises(Invalid, match="HORAE_URL is not"):
        chosen(place | {"HORAE_KEY": "k"})
    with pytest.raises(Invalid, match="HORAE_KEY is not"):
        chosen(place | {"HORAE_URL": "http://127.0.0.1:1"})
    with pytest.raises(NotFound, match="known: a, b"):
        chosen(place | {"HORAE_CONTEXT": "c"})


@pytest.mark.parametrize("url", ["horae.example.com", "ftp://x", "https://", "https://user:pw@x.example.com"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(Invalid):
        contexts.made("a", url, KEY)


def test_a_login_checks_the_key_and_tells_whose_it_is(file, horae, api, monkeypatch):
    horae("migrate")
    url, key = api.url, api.key()
    monkeypatch.delenv("HORAE_URL", raising=False)
    monkeypatch.delenv("HORAE_KEY", raising=False)
    assert "SCH_401_UNAUTHENTICATED" in call("login", url, said="horae_wrong\n", status=1)
    assert not file.exists(), "a key that the API refuses is not stored"
    assert "cli-admin of tenant default, admin" in call("login", url, "--name", "here", said=f"{key}\n")
    assert "context here" in call("context", "show")
    assert json.loads(call("job", "list", "--json")) == []
