"""What other systems send is decoded in `domain/foreign.py` alone, so that whatever is wrong with it is one error.

Every other decoder call in `src` is in the list below with what it reads: rows and cursors that this product wrote, a
request under the API's own reader, an operator's own file. A module that is not listed decodes nothing.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "horae"
READER = "domain/foreign.py"
DECODERS = {
    *("loads", "Decoder", "JSONDecoder", "raw_decode", "convert", "b64decode", "urlsafe_b64decode"),
    *("standard_b64decode", "b32decode", "b16decode", "a85decode", "b85decode", "fromhex", "unhexlify", "a2b_base64"),
    *("a2b_hex", "parsedate_to_datetime", "parsedate", "parsedate_tz", "strptime", "decompress", "decompressobj"),
    *("unpack", "unpack_from", "parse_qs", "parse_qsl"),
}
ENCODERS = {"encode", "hexdigest", "digest", "b2a_base64", "translate", "rstrip", "b64encode", "urlsafe_b64encode"}
OWN_ROOMS = ("api/", "boot/", "testing/")
"""`api` reads requests with its own strict reader, `boot` an operator's files, `testing` a test's own."""
OWN_INPUT = {
    "archive/columns.py": "ids as PostgreSQL writes them",
    "archive/manifests.py": "a manifest that this product wrote",
    "delivery/request_plans.py": "the head of a request that it has made itself",
    "delivery/reading.py": "header bytes as Latin-1, which no byte fails",
    "delivery/signing.py": "the text of a tenant's own signing secret; a failure is NO_SECRET",
    "domain/audit/anchors.py": "a file of anchors that this product wrote",
    "domain/fire_audit/rules.py": "a row of ours; a failure is a finding",
    "domain/jobs/definitions.py": "the fields of a job, which the API, a file or the command line has checked",
    "domain/connections/dsn.py": "the text of a tenant's own secret",
    "domain/nodes/wakes.py": "a notification that this product sent",
    "domain/zones/zones.py": "the system's own tzdata",
    "runtime/settings/redaction.py": "the parameters of an operator's own DSN",
    "runtime/settings/secret_files.py": "an operator's own file, at the start of a process",
    "runtime/settings/settings_file.py": "the same",
    "security/envelopes.py": "a payload that this product encrypted",
    "security/keyrings.py": "an operator's file of keys, at the start of a process",
    "security/report_signing.py": "the signature of a report, in a file that an operator names",
    "security/signed_texts.py": "a cursor that this product signed",
    "security/signing_keys.py": "a secret that this product made",
    "service/certificates/bundles.py": "evidence that this product stored",
    "service/certificates/certificates.py": "a certificate that this product made",
    "service/drills/history.py": "an audit row of ours",
    "service/instances/cold.py": "JSON of a row that this product archived",
    "service/instances/logs.py": "lines that this product encrypted",
    "service/tasks/compensations.py": "an outbox row",
    "store/measures/measures.py": "decisions and lines that this product wrote",
    "store/health/delay_causes.py": "what a node of this product wrote",
    "store/health/growth.py": "a measurement that this product wrote",
    "service/imports/celery_tables.py": "a file that an operator imports, on the operator's own machine",
    "service/imports/dumps.py": "the same",
    "service/imports/xxl_job.py": "the same",
    "service/events/intakes.py": "a row of ours",
    "service/identity/people.py": "a cookie that this product signed",
    "service/events/subscriptions.py": "a row of ours",
    "service/targets/targets.py": "a request that it has made itself",
    "store/arrays.py": "columns of our own tables",
    "store/audit/fires.py": "a row of ours",
    "store/certificates/certificates.py": "a certificate that this product made",
    "store/schedules/calendars.py": "a row of ours",
    "store/cells.py": "columns of our own tables",
    "store/jobs/edges.py": "a row of ours",
    "store/jobs/jobs.py": "a row of ours",
    "store/schedules/schedules.py": "a row of ours",
    "store/sources/sources.py": "a row of ours",
    "store/tenants/tenants.py": "a row of ours",
    "service/alerts/channels.py": "a row of ours",
    "store/alerts/alerts.py": "a row of ours",
    "store/alerts/faults.py": "a row of ours",
    "upkeep/alert_delivery.py": "a row of ours",
    "upkeep/alert_rules.py": "a row of ours",
    "upkeep/feed.py": "a row of ours",
}


def decoders(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of every decoder that a module uses."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="decode", value=ast.Call(func=made))) if name_of(made) in ENCODERS:
                continue
            case ast.Attribute(attr=name) if name in DECODERS or name == "decode":
                if name != "decode" or not follows_encoder(node):
                    yield node.lineno, name
            case ast.Name(id=name) if name in DECODERS:
                yield node.lineno, name


def follows_encoder(node: ast.Attribute) -> bool:
    """Whether it turns bytes into text that this very expression has made of text."""
    return isinstance(node.value, ast.Call) and name_of(node.value.func) in ENCODERS


def name_of(function: ast.expr) -> str:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def found() -> dict[str, list[tuple[int, str]]]:
    places = {}
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        if name != READER and not name.startswith(OWN_ROOMS):
            places[name] = list(decoders(ast.parse(path.read_text())))
    return {name: lines for name, lines in places.items() if lines}


def test_only_one_module_decodes_what_other_systems_send():
    places = {name: lines for name, lines in found().items() if name not in OWN_INPUT}
    assert not places, "read it with horae.domain.foreign, or say in OWN_INPUT whose it is"


def test_the_list_names_no_module_that_decodes_nothing():
    assert not OWN_INPUT.keys() - found().keys()


def test_the_look_finds_each_way_to_decode():
    planted = "\n".join(
        [
            "json.loads(x)",
            "body.decode()",
            "msgspec.json.decode(x)",
            "decoder = msgspec.json.decode",
            "b64decode(x)",
            "msgspec.convert(x, int)",
            "zlib.decompress(x)",
            "text.encode().decode()",
            "b64encode(x).decode()",
        ]
    )
    lines = [line for line, _ in sorted(decoders(ast.parse(planted)))]
    assert lines == [1, 2, 3, 4, 5, 6, 7]
