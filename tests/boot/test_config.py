"""`horae config show` and `check`: every value, where it comes from, and what is wrong, without secrets."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from horae.boot.cli import app_of
from horae.runtime.settings import Settings
from tests.keyring import keyring

SOUND = {
    "HORAE_ENVIRONMENT": "production",
    "HORAE_CONFIG": os.devnull,
    "HORAE_DSN": "postgresql://horae_engine:hunter2@127.0.0.1/horae",
    "HORAE_API_DSN": "postgresql://horae_api:hunter2@127.0.0.1/horae",
    "HORAE_API_SECRET": "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo",
    "HORAE_KEYRING": str(keyring()),
    "COLUMNS": "200",
}


@pytest.fixture
def config(monkeypatch):
    """Calls `horae config` with these settings and no others; returns its exit code and what it printed."""
    for name in [name for name in os.environ if name.startswith("HORAE_")]:
        monkeypatch.delenv(name)

    def call(*words, **settings):
        done = CliRunner().invoke(app_of("config"), words, env=SOUND | settings)
        assert "hunter2" not in done.output
        return done.exit_code, done.output

    return call


def faults(config, *words, **settings):
    status, said = config("config", "check", *words, "--json", **settings)
    found = {one["name"]: one["advice"] for one in json.loads(said) if one["level"] == "fault"}
    assert status == (1 if found else 0)
    return found


def test_every_setting_is_shown_with_its_origin_and_without_secrets(config, tmp_path):
    (tmp_path / "token").write_text("hunter2")
    (tmp_path / "horae.toml").write_text(f'slots = 7\nmonitoring_token_file = "{tmp_path}/token"\n')
    status, said = config("--config", str(tmp_path / "horae.toml"), "config", "show", "--json")
    shown = {
        one["setting"]: (one["value"], [tuple(origin.values()) for origin in one["origins"]])
        for one in json.loads(said)
    }
    assert (status, shown.keys()) == (0, Settings.model_fields.keys())
    assert shown["slots"] == (7, [("file", f"{tmp_path}/horae.toml")])
    assert shown["api_secret"] == ("***", [("environment", "HORAE_API_SECRET")])
    assert shown["monitoring_token"] == (
        "***",
        [("secret file", f"{tmp_path}/token")],
    )
    assert shown["dsn"][0] == "postgresql://horae_engine:***@127.0.0.1/horae"
    assert shown["grace"] == (20.0, [("default", "")])
    assert "HORAE_SLOTS" in config("--config", str(tmp_path / "horae.toml"), "config", "show", "--changed")[1]


def test_sound_settings_have_no_fault(config):
    assert faults(config) == {}
    assert faults(config, "--for", "node", HORAE_API_SECRET="") == {}


@pytest.mark.parametrize(
    ("settings", "name", "advice"),
    [
        ({"HORAE_DSN": "", "HORAE_API_DSN": ""}, "databases", "set HORAE_DSN"),
        ({"HORAE_DSN": "postgresql://u:hunter2@db.example.com/h"}, "databases: cell-0", "sslmode=verify-full"),
        ({"HORAE_DSN": "postgresql://u:hunter2@127.0.0.1:port/h"}, "databases: cell-0", "a DSN is not a URL such as"),
        ({"HORAE_API_SECRET": "short"}, "HORAE_API_SECRET", "openssl rand"),
        ({"HORAE_KEYRING": ""}, "HORAE_KEYRING", "horae keyring create"),
        ({"HORAE_KEYRING": "/nowhere/keyring.json"}, "HORAE_KEYRING", "/nowhere/keyring.json"),
        ({"HORAE_EGRESS": '{"networks": ["ten"]}'}, "HORAE_EGRESS", "not a network"),
        (
            {"HORAE_API_PORT": "8701"},
            "HORAE_API_PORT and HORAE_NODE_MONITORING_PORT",
            "a port of its own",
        ),
        ({"HORAE_AUDIT_ANCHORS": "/nowhere/anchors"}, "HORAE_AUDIT_ANCHORS", "create its folder"),
        (
            {"HORAE_SMTP_CA_FILE": "/nowhere/ca.pem"},
            "HORAE_SMTP_CA_FILE",
            "name a file that this user may read",
        ),
        ({"HORAE_KEYRNG": "x"}, "HORAE_KEYRNG", "did you mean HORAE_KEYRING?"),
        ({"HORAE_SLOTS_FILE": "x"}, "HORAE_SLOTS_FILE", "set HORAE_SLOTS itself"),
    ],
)
def test_what_would_keep_a_process_from_starting_is_a_fault(config, settings, name, advice):
    assert advice in faults(config, **settings)[name]


def test_variables_of_others_are_left_alone(config):
    assert faults(config, HORAE_URL="x", HORAE_KEY="y", HORAE_API_SERVICE_HOST="10.0.0.1") == {}


def test_a_secret_file_that_every_user_may_read_is_a_hint(config, tmp_path):
    file = tmp_path / "secret"
    file.write_text(SOUND["HORAE_API_SECRET"])
    file.chmod(0o644)
    status, said = config("config", "check", "--json", HORAE_API_SECRET="", HORAE_API_SECRET_FILE=str(file))
    assert status == 0
    assert {one["name"] for one in json.loads(said) if one["level"] == "hint"} == {"HORAE_API_SECRET"}


def test_a_refusal_is_one_line(config):
    status, said = config("config", "check", HORAE_ENVIRONMENT="")
    assert status == 1
    assert said.startswith("SCH_422_INVALID HORAE_ENVIRONMENT is not set.")
    assert said.count("\n") == 1


def test_settings_are_shown_without_the_driver_of_the_database():
    program = (
        "import sys; from horae.boot.cli import app_of; "
        "app_of('config')(['config', 'show', '--json'], standalone_mode=False); "
        "print(sorted({'asyncpg', 'cryptography', 'fastapi', 'uvloop'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | SOUND, capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"
