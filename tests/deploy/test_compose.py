"""The files of deploy/compose, as podman-compose reads them: every promise that can be read without a container."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from horae.runtime.settings import Settings
from horae.runtime.settings.secret_files import file_keys

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "compose"
PREFIX = "HORAE_"
RUNNING = ("postgres", "node", "api", "prometheus", "grafana")
"""The services that run until they are stopped."""


def read(*files: str) -> dict[str, Any]:
    """The files merged and with their variables replaced; `--dry-run` needs no podman."""
    program = Path(sys.executable).with_name("podman-compose")
    command = [program, "--dry-run", *(word for file in files for word in ("-f", FOLDER / file)), "config"]
    clean = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)
    return yaml.safe_load(done.stdout)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


def test_every_container_has_a_read_only_root_no_capabilities_and_is_restarted(compose):
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert {compose["services"][name]["restart"] for name in RUNNING} == {"unless-stopped"}


def test_there_are_two_nodes_and_nobody_begins_before_the_database_is_migrated(compose):
    services = compose["services"]
    assert services["node"]["scale"] == 2
    for name in ("node", "api"):
        assert services[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert services[name]["healthcheck"]["test"] == ["CMD", "horae-probe", "/readyz"]
    assert services["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_every_variable_of_horae_is_a_setting_and_no_secret_is_written_down(compose):
    secret_files = {f"{PREFIX}{key.upper()}" for key in file_keys(Settings)}
    plain = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} - {
        name.removesuffix("_FILE") for name in secret_files
    }
    for name, service in compose["services"].items():
        given = {key for key in service.get("environment", {}) if key.startswith(PREFIX)}
        assert given <= plain | secret_files, name
    assert not re.search(r"password:\s*[^{\s]", (FOLDER / "compose.yaml").read_text(), re.IGNORECASE)


def test_every_secret_that_a_process_reads_is_mounted_and_made_by_the_script(compose, tmp_path):
    for name, service in compose["services"].items():
        read_files = re.findall(r"/run/secrets/(\w+)", str(service.get("environment", {})))
        assert set(read_files) <= set(service.get("secrets", [])), name
    made = make_secrets(tmp_path / "secrets")
    assert set(made) == {Path(one["file"]).name for one in compose["secrets"].values()} == set(compose["secrets"])


def make_secrets(folder: Path) -> dict[str, str]:
    subprocess.run([FOLDER / "make-secrets", folder], capture_output=True, check=True)
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_a_second_run_changes_no_secret_and_another_deployment_has_others(tmp_path):
    first = make_secrets(tmp_path / "one")
    assert make_secrets(tmp_path / "one") == first
    assert (tmp_path / "one").stat().st_mode & 0o077 == 0
    other = make_secrets(tmp_path / "other")
    assert not set(first.values()) & set(other.values())
    assert first["engine_password"] in first["engine_dsn"]
    assert all("sslmode=verify-full" in first[f"{role}_dsn"] for role in ("migrate", "engine", "api"))


def test_ports_are_published_to_this_machine_only_and_the_database_to_nobody(compose):
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert len(published) == 3
    assert all(re.fullmatch(r"\$\{\w+:-127\.0\.0\.1:\d+\}:\d+", port) for port in published)
    assert compose["networks"]["database"]["internal"] is True
    assert compose["services"]["postgres"]["networks"] == ["database"]


def test_every_mounted_file_is_there_and_every_image_has_a_tag(compose):
    for name, service in compose["services"].items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert (FOLDER / source).exists() if source.startswith(".") else source in compose["volumes"], (
                name,
                source,
            )
        assert re.fullmatch(r"\$\{\w+:-[\w./-]+:[\w.-]+\}", service["image"]), name


def test_grafana_begins_only_where_it_is_asked_for():
    assert "grafana" not in read("compose.yaml")["services"]


def test_with_an_old_podman_nobody_waits_for_a_container_that_has_ended():
    services = read("compose.yaml", "podman.yaml")["services"]
    assert not any(services[name].get("depends_on") for name in ("migrate", "node", "api"))
    assert read("compose.yaml")["services"]["node"]["depends_on"]
