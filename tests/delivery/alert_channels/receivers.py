"""A receiver for each vendor, written after the rule that the vendor published. It shares no code with the product.

Each checks what its vendor checks, and answers as its vendor does: also a refusal is often a 200.
"""

import base64
import hashlib
import hmac
import json
import time
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from standardwebhooks import Webhook, WebhookVerificationError

from tests.delivery.server import Visit, answer

HOUR_S = 3600


class SeenRequest(NamedTuple):
    """A request, taken apart."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes
    body: Any


class VendorReceiver:
    """Remembers every request and those that it took. `answers` are given first, then what `judge` decides."""

    def __init__(self) -> None:
        self.requests: list[SeenRequest] = []
        self.taken: list[Any] = []
        self.answers: list[bytes] = []

    async def behave(self, visit: Visit) -> None:
        while raw := await visit.heard():
            seen = _parse(raw)
            self.requests.append(seen)
            await visit.say(self.answers.pop(0) if self.answers else self.judge(seen))

    def judge(self, seen: SeenRequest) -> bytes:
        raise NotImplementedError

    def take(self, seen: SeenRequest) -> None:
        self.taken.append(seen.body)


class FeishuReceiver(VendorReceiver):
    def __init__(self, token: str, secret: str | None) -> None:
        super().__init__()
        self.token, self.secret = token, secret

    def judge(self, seen: SeenRequest) -> bytes:
        if seen.path != f"/open-apis/bot/v2/hook/{self.token}":
            return said({"code": 19001, "data": {}, "msg": "param invalid: incoming webhook access token invalid"})
        if len(seen.raw) > 20 * 1024:
            return said({"code": 9499, "data": {}, "msg": "Bad Request"})
        if self.secret is not None and not self._signed(seen.body):
            return said({"code": 19021, "data": {}, "msg": "sign match fail or timestamp is not within one hour"})
        if seen.body["msg_type"] != "interactive" or "Horae" not in json.dumps(seen.body["card"]):
            return said({"code": 19024, "data": {}, "msg": "Key Words Not Found"})
        self.take(seen)
        return said({"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "success"})

    def _signed(self, body: dict[str, str]) -> bool:
        stamp = body.get("timestamp", "0")
        key = f"{stamp}\n{self.secret}".encode()
        expected = base64.b64encode(hmac.new(key, digestmod=hashlib.sha256).digest()).decode()
        return body.get("sign") == expected and abs(time.time() - int(stamp)) < HOUR_S


class DingTalkReceiver(VendorReceiver):
    def __init__(self, token: str, secret: str | None) -> None:
        super().__init__()
        self.token, self.secret = token, secret

    def judge(self, seen: SeenRequest) -> bytes:
        if seen.path != "/robot/send" or seen.query.get("access_token") != self.token:
            return said({"errcode": 300001, "errmsg": "token is not exist"})
        if self.secret is not None and not self._signed(seen.query):
            return said({"errcode": 310000, "errmsg": "sign not match, more: [https://ding-doc.dingtalk.com]"})
        if not seen.headers["content-type"].startswith("application/json"):
            return said({"errcode": 43004, "errmsg": "invalid http header content-type"})
        if len(seen.raw) > 20_000:
            return said({"errcode": 460101, "errmsg": "message too long, exceed 20000 bytes"})
        markdown = seen.body["markdown"]
        if seen.body["msgtype"] != "markdown" or not markdown["title"] or not markdown["text"]:
            return said({"errcode": 40035, "errmsg": "missing parameter"})
        self.take(seen)
        return said({"errcode": 0, "errmsg": "ok"})

    def _signed(self, query: dict[str, str]) -> bool:
        assert self.secret is not None
        stamp = query.get("timestamp", "0")
        code = hmac.new(self.secret.encode(), f"{stamp}\n{self.secret}".encode(), hashlib.sha256).digest()
        in_time = abs(time.time() * 1000 - int(stamp)) < HOUR_S * 1000
        return query.get("sign") == base64.b64encode(code).decode() and in_time


class WeComReceiver(VendorReceiver):
    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    def judge(self, seen: SeenRequest) -> bytes:
        if seen.path != "/cgi-bin/webhook/send" or seen.query.get("key") != self.key:
            return said({"errcode": 93000, "errmsg": "invalid webhook url, hint: [1]"})
        content = seen.body["markdown"]["content"]
        if seen.body["msgtype"] != "markdown" or not content or len(content.encode()) > 4096:
            return said({"errcode": 40058, "errmsg": "markdown.content exceed max length 4096"})
        self.take(seen)
        return said({"errcode": 0, "errmsg": "ok"})


class SlackReceiver(VendorReceiver):
    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token

    def judge(self, seen: SeenRequest) -> bytes:
        if seen.path != f"/services/T0/B0/{self.token}":
            return answer(404, b"no_service")
        if not seen.body.get("text") or not all(_is_block(block) for block in seen.body["blocks"]):
            return answer(400, b"invalid_blocks")
        self.take(seen)
        return answer(200, b"ok")


def _is_block(block: dict[str, Any]) -> bool:
    kind, text = block["type"], block["text"]
    if text["type"] not in {"plain_text", "mrkdwn"} or not text["text"]:
        return False
    longest = {"header": 150, "section": 3000}.get(kind, 0)
    shown = text["text"].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return len(shown) <= longest and (kind != "header" or text["type"] == "plain_text")


class PagerDutyReceiver(VendorReceiver):
    """It keeps the open alerts by their dedup key, as a service does."""

    def __init__(self, routing_key: str) -> None:
        super().__init__()
        self.routing_key = routing_key
        self.open: dict[str, Any] = {}

    def judge(self, seen: SeenRequest) -> bytes:
        event = seen.body
        wrong = [
            seen.path != "/v2/enqueue",
            event["routing_key"] != self.routing_key,
            event["event_action"] not in {"trigger", "acknowledge", "resolve"},
            not 1 <= len(event["dedup_key"]) <= 255,
            len(seen.raw) > 512 * 1024,
        ]
        if any(wrong):
            return said({"status": "invalid event", "message": "Event object is invalid", "errors": []}, 400)
        if event["event_action"] == "resolve":
            self.open.pop(event["dedup_key"], None)
        elif not self._is_payload(event["payload"]):
            return said({"status": "invalid event", "message": "Event object is invalid", "errors": []}, 400)
        else:
            self.open[event["dedup_key"]] = event
        self.take(seen)
        return said({"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}, 202)

    @staticmethod
    def _is_payload(payload: dict[str, Any]) -> bool:
        named = payload["severity"] in {"critical", "error", "warning", "info"} and payload["source"]
        return bool(named and 1 <= len(payload["summary"]) <= 1024)


class AlertmanagerReceiver(VendorReceiver):
    """Only a proxy that wants a bearer token; the tests of the format ask the real one."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token

    def judge(self, seen: SeenRequest) -> bytes:
        if seen.headers.get("authorization") != f"Bearer {self.token}":
            return answer(401)
        if seen.path != "/prefix/api/v2/alerts":
            return answer(404)
        self.take(seen)
        return answer(200)


class WebhookReceiver(VendorReceiver):
    """It verifies with the library that Standard Webhooks publishes."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.webhook = Webhook(secret)

    def judge(self, seen: SeenRequest) -> bytes:
        try:
            self.webhook.verify(seen.raw, seen.headers)
        except WebhookVerificationError:
            return answer(401)
        self.take(seen)
        return answer(204)


def said(body: dict[str, Any], status: int = 200) -> bytes:
    return answer(status, json.dumps(body).encode(), Content_Type="application/json")


def _parse(request: bytes) -> SeenRequest:
    head, _, raw = request.partition(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    parts = urlsplit(line.split(" ")[1])
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    found = {name.lower(): value for name, _, value in (one.partition(": ") for one in headers)}
    return SeenRequest(parts.path, query, found, raw, json.loads(raw))
