"""Mails reach a real server over STARTTLS, and every way in which a server fails is an outcome."""

import ssl
import traceback
from collections.abc import Callable, Iterator

import pytest

from horae.delivery.alert_channels import mail as mail_module
from horae.delivery.alert_channels.mail import Mailer
from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.alerts.channels import AlertLanguage, EmailChannel
from horae.domain.alerts.messages import AlertStatus
from horae.domain.errors import ChannelRefused, Unavailable
from horae.runtime.settings import Settings
from tests.delivery.alert_channels.messages import ENEMY_TEXTS, a_message, an_enemys_message
from tests.delivery.alert_channels.smtp_server import MailServer, mail_server
from tests.delivery.alert_channels.vendors import nothing_to_learn
from tests.delivery.builders import TENANT
from tests.delivery.certificates import Authority

PASSWORD = "canary-password"
CHANNEL = EmailChannel(to=("ops@example.com", "dev@example.org"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("mail"), "mail-ca")


@pytest.fixture(scope="module")
def tls(authority: Authority) -> ssl.SSLContext:
    return authority.serves("localhost", "DNS:localhost")


@pytest.fixture
def a_mailer(authority: Authority) -> Iterator[Callable[..., Mailer]]:
    """Makes mailers to a server, which trust the authority unless told otherwise, and closes them."""
    made: list[Mailer] = []

    def make(server: MailServer, **changed: object) -> Mailer:
        known = {
            "smtp_host": "localhost",
            "smtp_port": server.port,
            "smtp_user": server.user or "",
            "smtp_password": PASSWORD if server.user else "",
            "smtp_sender": "horae@example.com",
            "smtp_ca_file": authority.folder / "mail-ca.pem",
        }
        settings = Settings(**(known | changed)).smtp()
        assert settings is not None
        made.append(Mailer(settings))
        return made[-1]

    yield make
    for mailer in made:
        mailer.close()


async def test_a_mail_goes_over_starttls_with_password_to_every_address(tls, a_mailer):
    async with mail_server(MailServer(tls=tls, user="horae", password=PASSWORD)) as server:
        mailer = a_mailer(server)
        await mailer.send(CHANNEL, a_message())
    [mail] = server.mails
    assert server.over_tls == [True]
    assert server.recipients == [[*CHANNEL.to]]
    assert mail["Subject"] == "[Horae] CRITICAL: dead letter · acme/invoices · 214 times"
    assert mail["From"] == "Horae <horae@example.com>"
    text = mail.get_content()
    for fact in ("invoices", "payments", "answered 503", "Horae gave up", "/console/alerts/7", "wiki.example.com"):
        assert fact in text


async def test_a_mail_goes_over_tls_from_the_first_byte(tls, a_mailer):
    async with mail_server(MailServer(tls=tls, implicit_tls=True)) as server:
        await a_mailer(server, smtp_tls="tls").send(CHANNEL, a_message())
    assert len(server.mails) == 1


async def test_a_mail_in_chinese_arrives_as_it_was_written(tls, a_mailer):
    channel = EmailChannel(to=("ops@example.com",), language=AlertLanguage.ZH)
    async with mail_server(MailServer(tls=tls)) as server:
        await a_mailer(server).send(channel, a_message())
    assert server.mails[0]["Subject"] == "[Horae] 严重：出现死信 · acme/invoices · 214 次"
    assert "Horae 已放弃" in server.mails[0].get_content()


async def test_a_repeated_mail_has_the_same_id_and_a_resolved_one_the_same_conversation(tls, a_mailer):
    async with mail_server(MailServer(tls=tls)) as server:
        mailer = a_mailer(server)
        for status in (AlertStatus.FIRING, AlertStatus.FIRING, AlertStatus.RESOLVED):
            await mailer.send(CHANNEL, a_message(status))
    ids = [mail["Message-ID"] for mail in server.mails]
    assert ids[0] == ids[1] != ids[2]
    assert len({mail["References"] for mail in server.mails}) == 1


async def test_a_server_without_tls_gets_nothing(a_mailer):
    async with mail_server(MailServer(tls=None, user="horae", password=PASSWORD)) as server:
        with pytest.raises(Unavailable, match="SMTPNotSupportedError"):
            await a_mailer(server).send(CHANNEL, a_message())
    assert not {"AUTH", "MAIL", "DATA"} & set(server.commands)


async def test_a_server_that_nobody_vouches_for_gets_nothing(tls, a_mailer):
    async with mail_server(MailServer(tls=tls, user="horae", password=PASSWORD)) as server:
        with pytest.raises(Unavailable, match="SSLCertVerificationError"):
            await a_mailer(server, smtp_ca_file=None).send(CHANNEL, a_message())
    assert not {"AUTH", "MAIL", "DATA"} & set(server.commands)


async def test_a_wrong_password_is_tried_again_and_not_repeated(tls, a_mailer):
    async with mail_server(MailServer(tls=tls, user="horae", password="another")) as server:
        with pytest.raises(Unavailable, match="535") as caught:
            await a_mailer(server).send(CHANNEL, a_message())
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("command", "reply", "outcome"),
    [
        ("EHLO", b"421 go away", Unavailable),
        ("MAIL", b"451 later", Unavailable),
        ("MAIL", b"550 not you", Unavailable),
        ("RCPT", b"450 mailbox busy", Unavailable),
        ("DATA", b"451 later", Unavailable),
        ("END OF DATA", b"452 disk full", Unavailable),
        ("END OF DATA", b"554 looks like spam", ChannelRefused),
        ("DATA", b"\xff\xfe\x00 what", Unavailable),
        ("MAIL", b"9" * 10_000, Unavailable),
    ],
)
async def test_a_failing_server_is_an_outcome(tls, a_mailer, command, reply, outcome):
    server = MailServer(tls=tls, replies={command: [reply] * 3})
    async with mail_server(server):
        with pytest.raises(outcome):
            await a_mailer(server).send(CHANNEL, a_message())
    assert not server.mails


async def test_addresses_that_all_do_not_exist_are_refused_for_good(tls, a_mailer):
    server = MailServer(tls=tls, replies={"RCPT": [b"550 unknown", b"553 unknown"]})
    async with mail_server(server):
        with pytest.raises(ChannelRefused, match="550, 553"):
            await a_mailer(server).send(CHANNEL, a_message())


async def test_one_unknown_address_does_not_keep_the_mail_from_the_others(tls, a_mailer):
    server = MailServer(tls=tls, replies={"RCPT": [b"550 unknown"]})
    async with mail_server(server):
        await a_mailer(server).send(CHANNEL, a_message())
    assert server.recipients == [["dev@example.org"]]


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_mail_that_was_taken_is_not_sent_again_because_of_a_bad_goodbye(tls, a_mailer, monkeypatch, hangs):
    monkeypatch.setattr(mail_module, "SOCKET_TIMEOUT_S", 2.0)
    server = MailServer(tls=tls, replies={"QUIT": [b"500 no"]}, hang_at="QUIT" if hangs else None)
    async with mail_server(server):
        await a_mailer(server).send(CHANNEL, a_message())
    assert len(server.mails) == 1


async def test_a_server_that_hangs_is_left(tls, a_mailer, monkeypatch):
    monkeypatch.setattr(mail_module, "SOCKET_TIMEOUT_S", 0.2)
    async with mail_server(MailServer(tls=tls, hang_at="DATA")) as server:
        with pytest.raises(Unavailable, match=r"TimeoutError|Disconnected"):
            await a_mailer(server).send(CHANNEL, a_message())


async def test_a_caller_does_not_wait_longer_than_a_whole_mail_may_take(tls, a_mailer, monkeypatch):
    monkeypatch.setattr(mail_module, "SOCKET_TIMEOUT_S", 1.0)
    monkeypatch.setattr(mail_module, "MAIL_TIMEOUT_S", 0.05)
    async with mail_server(MailServer(tls=tls, hang_at="EHLO")) as server:
        with pytest.raises(Unavailable, match="took longer"):
            await a_mailer(server).send(CHANNEL, a_message())


async def test_an_address_outside_of_the_allowed_domains_gets_nothing(tls, a_mailer):
    async with mail_server(MailServer(tls=tls)) as server:
        with pytest.raises(ChannelRefused, match="HORAE_SMTP_DOMAINS"):
            await a_mailer(server, smtp_domains=["Example.com"]).send(CHANNEL, a_message())
        await a_mailer(server, smtp_domains=["Example.com"]).send(EmailChannel(to=("a@example.COM",)), a_message())
    assert server.recipients == [["a@example.COM"]]


@pytest.mark.parametrize("text", ENEMY_TEXTS, ids=[ascii(text)[:30] for text in ENEMY_TEXTS])
async def test_the_text_of_an_enemy_adds_no_recipient_and_no_second_mail(tls, a_mailer, client, text):
    async with mail_server(MailServer(tls=tls)) as server:
        sender = AlertSender(client, secrets_in_memory({}), nothing_to_learn, a_mailer(server))
        await sender.send(TENANT, None, EmailChannel(to=("ops@example.com",)), an_enemys_message(text))
    [mail] = server.mails
    assert server.recipients == [["ops@example.com"]]
    assert mail["Bcc"] is None
    assert server.commands.count("MAIL") == 1


async def test_a_deployment_without_a_mail_server_says_which_setting_is_missing(client):
    sender = AlertSender(client, secrets_in_memory({}), nothing_to_learn)
    with pytest.raises(ChannelRefused, match="HORAE_SMTP_HOST"):
        await sender.send(TENANT, None, CHANNEL, a_message())


def test_a_mail_server_needs_a_sender_and_no_readable_password():
    with pytest.raises(ValueError, match="HORAE_SMTP_SENDER"):
        Settings(smtp_host="mail.example.com")
    with pytest.raises(ValueError, match="HORAE_SMTP_TLS=off"):
        Settings(smtp_host="m", smtp_sender="a@example.com", smtp_tls="off", smtp_password="x")
    assert Settings().smtp() is None
