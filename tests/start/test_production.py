"""docs/production.md and docs/upgrade.md: few commands, the same in both languages, and each of them runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from horae.boot.cli import whole
from tests.start.clean_debian import clean_debian

ROOT = Path(__file__).parents[2]
PAGES = ("production.md", "production.zh-CN.md")
MOST_COMMANDS = 12
PROMISED_S = 15 * 60
HOST = "horae.example.com"


def blocks(page):
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page):
    """The commands of a page; one that is continued on the next line is one."""
    lines = "".join(blocks(page)).replace("\\\n", " ").splitlines()
    return [command for line in lines for command in re.split(r"&&|;(?=\s)", line) if command.strip()]


def test_both_languages_have_the_same_commands_and_no_more_than_twelve():
    english, chinese = (commands(page) for page in PAGES)
    assert english == chinese
    assert len(english) <= MOST_COMMANDS


@pytest.mark.parametrize("page", ["production.md", "upgrade.md"])
def test_every_command_of_ours_has_the_options_that_are_typed(page):
    found = [re.search(r"/opt/horae/bin/horae ([a-z-]+)([^|]*)", command) for command in commands(page)]
    known = {command.name or command.callback.__name__: command for command in whole().registered_commands}
    for one in filter(None, found):
        told = known[one[1]].callback.__signature__.parameters.values()
        options = {word for told_one in told for word in words_of(told_one)}
        assert set(re.findall(r"--[a-z-]+", one[2])) <= options, one[0]


def words_of(parameter):
    """The options of a parameter of a command: those that are declared, or the one that its name makes."""
    declared = [word for fact in parameter.annotation.__metadata__ for word in fact.param_decls or ()]
    return declared or [f"--{parameter.name.replace('_', '-')}"]


def test_every_unit_that_is_started_is_there():
    started = [command for command in commands("production.md") if command.startswith("systemctl")]
    units = {name for command in started for name in re.findall(r"\bhorae-[a-z]+@?", command)}
    assert units >= {"horae-api", "horae-node@"}
    for unit in units:
        assert (ROOT / "deploy" / "systemd" / f"{unit}.service").exists(), unit


CHECKS = r"""
test "$(stat -c '%a %U' /etc/horae/horae.toml /etc/horae/keyring.json /etc/horae/admin.key | sort -u)" = '600 horae'
test "$(curl -s -o /dev/null -w '%{http_code}' https://localhost/api/v1/jobs)" = 401
curl -fsS https://localhost/console/ | grep -qi '<!doctype html>'
curl -fsS -H "Authorization: Bearer $(cat /etc/horae/admin.key)" https://localhost/api/v1/alert-channels/default
count() { runuser -u postgres -- psql horae -Atc "$1"; }
test "$(count 'select count(*) from node')" -ge 2
fires() { count "select count(*) from instance_history"; }
"""
FIRST_JOB = r"""
curl -fsS -H "Authorization: Bearer $(cat /etc/horae/admin.key)" -H 'Content-Type: application/json' \
    -H 'Idempotency-Key: first' https://localhost/api/v1/jobs \
    -d '{"name": "hello", "cron": "* * * * * *", "target": {"kind": "http", "url": "https://localhost/nothing"}}'
"""
FIRES_AGAIN = r"""
before=$(fires)
for _ in $(seq 600); do test "$(fires)" -gt "$before" && break; sleep 0.1; done
test "$(fires)" -gt "$before"
"""
TRUST = "export CURL_CA_BUNDLE=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt\n"
"""For the name `localhost` Caddy is its own authority."""


@pytest.mark.long
@pytest.mark.timeout(PROMISED_S + 1800)
def test_the_pages_lead_from_an_empty_machine_to_fires_behind_tls_and_through_an_upgrade(wheels, record_property):
    install, *rest = (block.replace(HOST, "localhost") for block in blocks("production.md"))
    [upgrade] = blocks("upgrade.md")
    alerts = rest.pop()
    with clean_debian(wheels) as debian:
        debian.run(install, alone=False, timeout_s=PROMISED_S)
        script = ["pg_ctlcluster 15 main start", *rest, TRUST, alerts, CHECKS, FIRST_JOB, FIRES_AGAIN]
        script += [upgrade, CHECKS, FIRES_AGAIN, "echo everything ran"]
        said = debian.run("\n".join(script), alone=True, timeout_s=PROMISED_S)
    assert said.rstrip().endswith("everything ran")
    assert "cell-0: nothing to do" in said, "the plan of an upgrade to the same release"
    record_property("commands", len(commands("production.md")))


@pytest.fixture
def wheels(tmp_path):
    """What `make dist` built; built now, where it was not."""
    given = Path(os.environ.get("HORAE_TEST_WHEELS", ROOT / "dist"))
    if not list(given.glob("horae-*.whl")):
        subprocess.run(["make", "dist"], cwd=ROOT, check=True)
    return given
