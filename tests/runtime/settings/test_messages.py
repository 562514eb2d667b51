"""One line says what is wrong with settings: the file or variable, the key, the fault, and never a secret."""

import pytest

from horae.domain.errors import Invalid
from horae.runtime.settings import read_settings


def refusal(**given):
    with pytest.raises(Invalid) as refused:
        read_settings(**given)
    text = str(refused.value)
    assert "\n" not in text
    assert "hunter2" not in text
    assert "hunter2" not in repr(refused.value.__cause__)
    return text


def test_a_process_without_an_environment_is_told_the_choices_and_what_they_change():
    text = refusal()
    for word in (
        "HORAE_ENVIRONMENT is not set",
        "`production`",
        "`dev`",
        "https only",
        "HORAE_EGRESS",
        "over http too",
    ):
        assert word in text


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("api_prt = 8700", "api_prt", "there is no such setting; did you mean api_port?"),
        ("api_secret_flie = 'x'", "api_secret_flie", "there is no such setting; did you mean api_secret_file?"),
        ("slots = 'many hunter2'", "slots", "Input should be a valid integer"),
        ("environment = 'prod'", "environment", "Input should be 'production', 'staging', 'dev' or 'test'"),
        ("[oidc]\nissuer = 'x'\nclient = 'y'", "oidc.client", "did you mean client_id?"),
        ("[[cells]]\nname = 'a'\ndns = 'postgresql://u:hunter2@h/d'", "cells[0].dns", "did you mean dsn?"),
        ("[[cells]]\nname = 'a'", "cells[0].dsn", "Field required"),
        ("[brokers.main]\nkind = 'mqtt'\nurl = 'x://u:hunter2@h'", "brokers.main.kind", "Input should be 'kafka'"),
    ],
)
def test_a_mistake_in_the_file_names_the_file_the_key_and_the_fault(settings_file, text, key, fault):
    file = settings_file(text if "environment" in text else f"environment = 'test'\n{text}")
    said = refusal()
    assert said.startswith(f"{file}: {key}: "), said
    assert fault in said


def test_a_file_that_is_no_toml_or_is_not_there_is_told(settings_file, monkeypatch, tmp_path):
    file = settings_file('api_secret "hunter2"')
    assert refusal() == f"{file} is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 12)"
    monkeypatch.setenv("HORAE_CONFIG", str(tmp_path / "none.toml"))
    assert refusal() == f"{tmp_path}/none.toml cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HORAE_SLOTS", "hunter2", "HORAE_SLOTS: Input should be a valid integer"),
        ("HORAE_CELLS", '[{"name": "hunter2', "HORAE_CELLS is not JSON"),
        ("HORAE_CELLS", '[{"name": "a", "dsn": "x", "pool": "hunter2"}]', "HORAE_CELLS[0].pool: there is no such"),
        ("HORAE_OIDC__CLIENT", "hunter2", "HORAE_OIDC__CLIENT: there is no such setting; did you mean client_id?"),
        ("HORAE_API_SECRET_FILE", "/nowhere/at/all", "HORAE_API_SECRET_FILE: /nowhere/at/all cannot be read: No such"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    assert refusal(environment="test").startswith(said)


def test_a_secret_file_that_is_no_json_shows_nothing_of_itself(secret_file, monkeypatch):
    file = secret_file("cells", "postgresql://u:hunter2@h/d")
    monkeypatch.setenv("HORAE_CELLS_FILE", file)
    assert refusal(environment="test") == f"HORAE_CELLS_FILE: {file} is not JSON"


def test_a_secret_in_a_file_that_everybody_may_read_is_refused(settings_file, secret_file):
    """Group may read: the file belongs to root, and the group of the service reads it."""
    for text in ('api_secret = "hunter2"', 'dsn = "postgresql://u:hunter2@h/d"', '[secrets.acme]\na = "hunter2"'):
        file = settings_file(f'environment = "test"\n{text}', 0o644)
        assert f"chmod 640 {file}" in refusal()
        settings_file(f'environment = "test"\n{text}', 0o640)
        read_settings()
    api = secret_file("api", "hunter2")
    settings_file(f'environment = "test"\ndsn = "postgresql://u@h/d"\napi_secret_file = "{api}"', 0o644)
    assert read_settings().api_secret == "hunter2"
