"""The files of `deploy/patroni` keep what the doctor asks for, and Patroni's own rules."""

import re

import yaml

from horae.domain.health.doctor import DURABLE
from tests.system.children import ROOT

FOLDER = ROOT / "deploy" / "patroni"
CLUSTER = yaml.safe_load((FOLDER / "cluster.yml").read_text())
MEMBER = yaml.safe_load((FOLDER / "member.example.yml").read_text())
ETCD = dict(re.findall(r"^(ETCD_\w+)=(.*)$", (FOLDER / "etcd.example.env").read_text(), re.MULTILINE))
DYNAMIC = CLUSTER["bootstrap"]["dcs"]


def test_a_commit_is_on_two_members_before_it_is_acknowledged():
    assert DYNAMIC["synchronous_mode"] is True
    assert DYNAMIC["synchronous_mode_strict"] is True
    assert {DYNAMIC["postgresql"]["parameters"][name] for name in DURABLE} == {"on"}
    assert "synchronous_standby_names" not in DYNAMIC["postgresql"]["parameters"], "Patroni writes it"


def test_a_dead_primary_is_replaced_within_thirty_seconds():
    assert DYNAMIC["ttl"] == 20
    assert DYNAMIC["loop_wait"] + 2 * DYNAMIC["retry_timeout"] <= DYNAMIC["ttl"]
    assert DYNAMIC["primary_start_timeout"] == 0


def test_the_leader_key_is_renewed_by_compare_and_set():
    assert "etcd3" not in MEMBER
    assert len(MEMBER["etcd"]["hosts"]) == 3
    assert ETCD["ETCD_ENABLE_V2"] == "true"


def test_a_member_tells_its_zone_to_people_and_to_the_doctor():
    assert MEMBER["tags"]["zone"] == MEMBER["postgresql"]["parameters"]["horae.zone"]


def test_nobody_logs_in_over_the_network_without_tls_and_a_password():
    remote = [line for line in CLUSTER["postgresql"]["pg_hba"] if not line.startswith("local ")]
    assert all(line.startswith("hostssl ") and line.endswith(" scram-sha-256") for line in remote)
