"""E-mail over the platform's own mail server.

The server is one of the operator's settings, so that the egress rules do not apply to it. Tenants only name addresses.
"""

import asyncio
import smtplib
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from hashlib import sha256
from typing import Final

from horae.domain.alerts.channels import EmailChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.alerts.texts import alert_text
from horae.domain.errors import ChannelRefused, Unavailable
from horae.runtime.settings import SmtpSettings
from horae.runtime.telemetry import log

SOCKET_TIMEOUT_S: Final = 10.0
"""How long one step of SMTP may take."""
MAIL_TIMEOUT_S: Final = 30.0
"""How long a caller waits for a whole mail."""
MOST_THREADS: Final = 2
"""Mails that are sent at the same time: `smtplib` blocks its thread."""
FIRST_PERMANENT_REPLY: Final = 500
"""Replies of SMTP from this code on are permanent; lower ones are temporary."""


class Mailer:
    """Sends mails in threads of its own, each over a new connection."""

    def __init__(self, server: SmtpSettings, wall: Callable[[], float] = time.time) -> None:
        self._server = server
        self._wall = wall
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="smtp")

    async def send(self, channel: EmailChannel, message: AlertMessage) -> None:
        """Send a message to all addresses of a channel; raises `Unavailable` or `ChannelRefused`."""
        self._check_domains(channel)
        mail = build_mail(self._server.sender, channel, message, self._wall())
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(MAIL_TIMEOUT_S):
                await loop.run_in_executor(self._threads, self._deliver, mail)
        except TimeoutError:
            raise Unavailable(f"the mail server took longer than {MAIL_TIMEOUT_S:g} s") from None

    def close(self) -> None:
        """End the threads; a mail that is being sent is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check_domains(self, channel: EmailChannel) -> None:
        allowed = {domain.lower() for domain in self._server.domains}
        for address in channel.to:
            if allowed and address.rpartition("@")[2].lower() not in allowed:
                raise ChannelRefused("an address of the channel is outside of HORAE_SMTP_DOMAINS")

    def _deliver(self, mail: EmailMessage) -> None:
        """Send a mail. No error repeats what the server said: it may repeat what it was sent."""
        try:
            with closing(self._connect()) as smtp:
                if self._server.user:
                    smtp.login(self._server.user, self._server.password)
                refused = smtp.send_message(mail)
                with suppress(smtplib.SMTPException, OSError):  # the mail is taken, whatever the server says to QUIT
                    smtp.quit()
        except smtplib.SMTPRecipientsRefused as error:
            raise _recipients_refused(error) from None
        except smtplib.SMTPDataError as error:
            raise _data_refused(error) from None
        except smtplib.SMTPResponseException as error:
            raise Unavailable(f"the mail server answered {error.smtp_code}") from None
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise Unavailable(f"the mail server was not usable: {type(error).__name__}") from None
        if refused:
            log.warning("alert_mail.recipients_refused", refused=len(refused))

    def _connect(self) -> smtplib.SMTP:
        server = self._server
        name = server.sender.rpartition("@")[2]  # a name of our own: looking up that of the machine can take seconds
        if server.tls == "tls":
            return smtplib.SMTP_SSL(server.host, server.port, name, timeout=SOCKET_TIMEOUT_S, context=self._trust())
        smtp = smtplib.SMTP(server.host, server.port, name, timeout=SOCKET_TIMEOUT_S)
        if server.tls == "starttls":
            try:
                smtp.starttls(context=self._trust())
            except BaseException:
                smtp.close()
                raise
        return smtp

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._server.ca_file)


def build_mail(sender: str, channel: EmailChannel, message: AlertMessage, now_s: float) -> EmailMessage:
    """Return the mail of a message.

    Its `Message-ID` follows from the message's id, so that a repeated mail is recognised. All mails of a group are one
    conversation. The body is in base64, so that no line of it is read as a command.
    """
    text, domain = alert_text(message, channel.language), sender.rpartition("@")[2]
    mail = EmailMessage(policy=SMTP)
    mail["From"] = f"Horae <{sender}>"
    mail["To"] = ", ".join(channel.to)
    mail["Subject"] = text.title
    mail["Date"] = formatdate(now_s)
    mail["Message-ID"] = f"<{_digest(message.id)}@{domain}>"
    mail["References"] = f"<{_digest(message.group_key)}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(f"{text.title}\n\n{text.plain()}\n", charset="utf-8", cte="base64")
    return mail


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:40]


def _recipients_refused(error: smtplib.SMTPRecipientsRefused) -> Exception:
    codes = sorted({code for code, _ in error.recipients.values()})
    text = f"the mail server refused all addresses of the channel with {', '.join(map(str, codes))}"
    return ChannelRefused(text) if all(code >= FIRST_PERMANENT_REPLY for code in codes) else Unavailable(text)


def _data_refused(error: smtplib.SMTPDataError) -> Exception:
    text = f"the mail server refused the mail with {error.smtp_code}"
    return ChannelRefused(text) if error.smtp_code >= FIRST_PERMANENT_REPLY else Unavailable(text)
