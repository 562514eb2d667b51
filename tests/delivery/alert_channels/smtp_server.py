"""A small mail server over real sockets, with STARTTLS and AUTH PLAIN after RFC 5321, 3207 and 4954."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser


@dataclass
class MailServer:
    """What it demands and what it got. `replies` are given instead of the usual reply to a command, once each."""

    tls: ssl.SSLContext | None = None
    implicit_tls: bool = False
    user: str | None = None
    password: str = ""
    replies: dict[str, list[bytes]] = field(default_factory=dict)
    hang_at: str | None = None
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    over_tls: list[bool] = field(default_factory=list)


class Session:
    """One connection to the server."""

    def __init__(self, server: MailServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.secure = server.implicit_tls
        self.known = server.user is None
        self.to: list[str] = []

    async def run(self) -> None:
        await self.say(b"220 mail.example.com ESMTP")
        while line := await self.reader.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            verb = verb.upper()
            self.server.commands.append(verb)
            if self.server.hang_at == verb:
                await self.reader.read()
                return
            if self.server.replies.get(verb):
                await self.say(self.server.replies[verb].pop(0))
                continue
            if not await self.obey(verb, rest):
                return

    async def obey(self, verb: str, rest: str) -> bool:
        match verb:
            case "EHLO":
                await self.say(*self.offers())
            case "STARTTLS" if self.server.tls is not None and not self.secure:
                await self.say(b"220 go ahead")
                await self.writer.start_tls(self.server.tls)
                self.secure = True
            case "AUTH":
                await self.authenticate(rest)
            case "MAIL" if not self.known:
                await self.say(b"530 authentication required")
            case "MAIL":
                self.to = []
                await self.say(b"250 ok")
            case "RCPT":
                self.to.append(rest.partition("<")[2].partition(">")[0])
                await self.say(b"250 ok")
            case "DATA":
                await self.say(b"354 go ahead")
                await self.take(await self.reader.readuntil(b"\r\n.\r\n"))
            case "RSET" | "NOOP":
                await self.say(b"250 ok")
            case "QUIT":
                await self.say(b"221 bye")
                return False
            case _:
                await self.say(b"502 not implemented")
        return True

    def offers(self) -> list[bytes]:
        offered = [b"250-mail.example.com"]
        if self.server.tls is not None and not self.secure:
            offered.append(b"250-STARTTLS")
        if self.secure:
            offered.append(b"250-AUTH PLAIN")
        return [*offered, b"250 SIZE 1000000"]

    async def authenticate(self, rest: str) -> None:
        _, user, password = base64.b64decode(rest.partition(" ")[2]).decode().split("\0")
        self.known = (user, password) == (self.server.user, self.server.password)
        await self.say(b"235 welcome" if self.known else b"535 " + password.encode() + b" is not the password")

    async def take(self, data: bytes) -> None:
        raw = data.removesuffix(b".\r\n").replace(b"\r\n..", b"\r\n.")
        if self.server.replies.get("END OF DATA"):
            await self.say(self.server.replies["END OF DATA"].pop(0))
            return
        self.server.raw.append(raw)
        self.server.mails.append(BytesParser(policy=policy.default).parsebytes(raw))
        self.server.recipients.append(self.to)
        self.server.over_tls.append(self.secure)
        await self.say(b"250 taken")

    async def say(self, *lines: bytes) -> None:
        self.writer.write(b"".join([line + b"\r\n" for line in lines]))
        await self.writer.drain()


@asynccontextmanager
async def mail_server(server: MailServer) -> AsyncIterator[MailServer]:
    """The server on a free port."""

    sessions: set[asyncio.Task[None] | None] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sessions.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await Session(server, reader, writer).run()
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    context = server.tls if server.implicit_tls else None
    listening = await asyncio.start_server(meet, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await asyncio.gather(*[one for one in sessions if one is not None], return_exceptions=True)
