"""Settings without those of the test process: each test says what is set."""

import os

import pytest


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    """No setting but the name of a file that is empty until a test writes it."""
    for name in [name for name in os.environ if name.startswith("HORAE_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "horae.toml"
    file.write_text("")
    monkeypatch.setenv("HORAE_CONFIG", str(file))


@pytest.fixture
def settings_file(tmp_path):
    """Writes the settings file, for its owner only unless a test says otherwise; returns its path."""

    def write(text, mode=0o600):
        file = tmp_path / "horae.toml"
        file.write_text(text)
        file.chmod(mode)
        return file

    return write


@pytest.fixture
def secret_file(tmp_path):
    """Writes a file with a secret; returns its path."""

    def write(name, text):
        file = tmp_path / name
        file.write_text(text)
        return str(file)

    return write
