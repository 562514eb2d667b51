"""The address guard on the wire: whatever a host is called, and however often its name changes its mind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from horae.delivery.client import Client, ask
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.delivery.push import Sender
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.server import Received, Server, polite, serving

OPEN = Egress(ports=("1-65535",), plain=True)
LOOPBACK = Egress(networks=("127.0.0.0/8",), ports=("1-65535",), plain=True)
TRIES = 1000
ROOT = Path(__file__).parents[2]
SPELLINGS = [
    *("127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "017700000001"),
    *("0x7f.1", "127.0x0.0.1", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "localhost."),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]"),
    *("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"),
    *("169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518", "10.0.0.1", "0x0a000001"),
    *("%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1.", "example@127.0.0.1", "127.0.0.1#.example.com"),
]


async def tried(egress: Egress, url: str) -> HttpAnswer | Failure:
    client = Client(egress)
    try:
        return await ask(client, build_request("POST", parse_url(url), {}, b"", 1.0, 1.0))
    except (UnicodeError, ValueError) as error:
        return Failure(ErrorCode.REFUSED, str(error))
    finally:
        await client.close()


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_a_host_leads_inside(server: Server, received: Received, host: str):
    port = server.url.rpartition(":")[2].strip("/")
    found = await tried(OPEN, f"http://{host}:{port}/")
    assert isinstance(found, Failure)
    assert not received.lines


async def test_a_refused_target_says_why_and_is_not_tried_again(server: Server, received: Received):
    client = Client(OPEN)
    done = await Sender(client).deliver(an_attempt(), a_job(HttpTarget(server.url)))
    await client.close()
    assert isinstance(done.outcome, Unrecoverable)
    assert done.outcome.code is ErrorCode.REFUSED
    assert "this host" in done.outcome.message
    assert not received.lines


async def test_an_allowed_network_is_called(server: Server, received: Received):
    assert isinstance(await tried(LOOPBACK, server.url), HttpAnswer)
    assert received.lines


async def test_a_proxy_that_the_environment_names_is_never_used(server: Server, received: Received, monkeypatch):
    async with serving(polite) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.upper(), proxy.url)
        assert isinstance(await tried(LOOPBACK, server.url), HttpAnswer)
    assert len(received.lines) == 1
    assert proxy.visits == 0


async def test_a_tenants_own_rules_hold_for_its_calls_alone(server: Server, received: Received):
    client = Client(LOOPBACK)
    sender = Sender(client)
    assert isinstance((await sender.deliver(an_attempt(), a_job(HttpTarget(server.url)))).outcome, Success)
    sender.egress_of = {TENANT: OPEN}.get  # stricter than the deployment, while a connection stands that was allowed
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url)))
    await client.close()
    assert isinstance(done.outcome, Unrecoverable)
    assert len(received.lines) == 1


def in_a_namespace(tmp_path: Path, program: str, *prepared: str) -> dict[str, Any]:
    """What a program of ours saw in a network of its own, with its own resolver."""
    resolv = tmp_path / "resolv.conf"
    resolv.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    steps = ("ip link set lo up", f"mount --bind {resolv} /etc/resolv.conf", *prepared)
    script = " && ".join((*steps, f"exec {sys.executable} -m tests.delivery.{program}"))
    found = subprocess.run(
        ["unshare", "-n", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )
    assert found.returncode == 0, found.stderr
    seen: dict[str, Any] = json.loads(found.stdout)
    return seen


ROOTED = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("unshare"), reason="needs root for a network namespace"
)


@ROOTED
def test_a_name_that_changes_its_mind_never_leads_inside(tmp_path: Path):
    seen = in_a_namespace(tmp_path, f"rebinding {TRIES}")
    assert seen.pop("asked") >= TRIES
    assert seen.pop("REFUSED") >= TRIES * 3 // 4 - 1  # one in four answers names public addresses alone
    assert seen == {"CONNECT": seen["CONNECT"]}, "the canary was reached"


@ROOTED
def test_where_every_address_leads_to_a_canary_no_way_inside_reaches_it(tmp_path: Path):
    everything = ("ip route add local 0.0.0.0/0 dev lo", "ip -6 route add local ::/0 dev lo")
    seen = in_a_namespace(tmp_path, "ssrf", *everything)
    assert seen["controls"] == ["302"] * 3, "public addresses reach it, and nobody follows where it points"
    assert seen["allowed"] == ["302"] * 2, "and so does a network that was allowed"
    assert sum(sum(kind.values()) for kind in seen["done"].values()) >= 300
    assert seen["inside"] == [], seen["done"]
    assert {code for kind in seen["done"].values() for code in kind} <= {"REFUSED", "CONNECT"}, seen["done"]
