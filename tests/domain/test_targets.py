import msgspec
import pytest

from horae.domain.errors import Invalid
from horae.domain.targets.auth import BasicAuth, BearerAuth, MtlsAuth, OAuthAuth
from horae.domain.targets.targets import HttpTarget, Target, slot_ms

URL = "https://shop.example/hook"
OAUTH = OAuthAuth("https://id.example/token", "horae", "oauth-secret", scope="fire")


def test_a_plain_target_is_stored_as_its_url_alone():
    assert msgspec.json.decode(msgspec.json.encode(HttpTarget(URL))) == {"kind": "http", "url": URL}


@pytest.mark.parametrize("auth", [BearerAuth("t"), BasicAuth("u", "p"), MtlsAuth("c"), OAUTH])
def test_a_full_target_survives_being_stored(auth):
    target = HttpTarget(
        URL,
        headers={"X-Shop": "{{key}}"},
        query={"at": "{{fire_time}}"},
        body={"n": "{{payload.n}}"},
        auth=auth,
        signing="hook",
        ca="our-ca",
        max_concurrency=5,
        rate=0.5,
        completion_seconds=60,
    )
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(target)), Target) == target


@pytest.mark.parametrize(
    "facts",
    [
        {"url": "http://user:password@shop.example/"},
        {"url": "http://shop.example:99999/"},
        {"url": "http://[::1/"},
        {"url": "http:///nowhere"},
        {"url": "http://shop.example/a b"},
        {"url": "http://shop.example/\r\nX: y"},
        {"url": "http://①②⑦.⓪.⓪.①/"},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X": "a\0"}},
        {"headers": {"X Y": "a"}},
        {"headers": {"": "a"}},
        {"headers": {"Host": "other.example"}},
        {"headers": {"content-length": "0"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"Authorization": "Bearer abc"}},
        {"headers": {"Webhook-Signature": "v1,x"}},
        {"headers": {"Horae-Attempt": "1"}},
        {"headers": {"X": "{{nothing}}"}},
        {"query": {"q": "{{nothing}}"}},
        {"body": ["{{nothing}}"]},
        {"method": "GET", "body": {}},
        {"method": "GET", "batch": 2},
        {"batch": 0},
        {"batch": 1001},
        {"batch": 2, "body": {"a": 1}},
        {"batch": 2, "query": {"a": "{{key}}"}},
        {"max_concurrency": 0},
        {"rate": 0.0},
        {"rate": float("nan")},
        {"completion_seconds": 0.5},
        {"completion_seconds": 1e9},
        {"signing": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=="},
        {"ca": "-----BEGIN CERTIFICATE-----\n"},
    ],
)
def test_what_could_not_be_sent_is_refused_when_the_job_is_made(facts):
    with pytest.raises(Invalid):
        HttpTarget(**({"url": URL} | facts))


def test_secrets_are_named_and_their_values_refused():
    for make in (
        lambda: BearerAuth("eyJhbGciOi/+=="),
        lambda: BasicAuth("a:b", "p"),
        lambda: BasicAuth("a", ""),
        lambda: MtlsAuth("-----BEGIN CERTIFICATE-----"),
        lambda: OAuthAuth("ftp://id.example", "c", "s"),
        lambda: OAuthAuth("https://id.example", "c", "se cret"),
    ):
        with pytest.raises(Invalid):
            make()


def test_a_slot_leaves_time_to_fetch_a_token():
    assert slot_ms(HttpTarget(URL, auth=OAUTH)) == 21_000
