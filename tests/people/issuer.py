"""An OpenID issuer of our own, as a process: honest unless told otherwise. `python -m tests.people.issuer PORT`.

It knows one client, checks PKCE and gives each code once. What is posted to `/control` decides who is logged in, which
keys it signs with, and which forgery it hands out in the place of the next token.
"""

import base64
import hashlib
import json
import secrets
import sys
import time
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.people import forgeries

CLIENT, SECRET = "horae-console", "correct horse battery staple"


class State:
    """Everything the issuer remembers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.user: dict[str, Any] = {"sub": "alice", "name": "Alice", "groups": ["operations"]}
        self.forge: str | None = None
        self.lax = False
        self.codes: dict[str, dict[str, str]] = {}
        self.used: dict[str, dict[str, str]] = {}
        self.last_nonce = ""
        self.last_token = ""
        self.jwks_read = 0
        self.number = 0
        self.rotate()
        self.rotate()

    def rotate(self) -> None:
        """A new key to sign with; the one before stays in the set, older ones go."""
        old = getattr(self, "keys", None)
        self.number += 1
        self.keys = forgeries.Keys(
            rsa=RSAKey.generate_key(2048, {"kid": f"rsa-{self.number}", "use": "sig", "alg": "RS256"}, private=True),
            ec=ECKey.generate_key("P-256", {"kid": f"ec-{self.number}", "use": "sig"}, private=True),
            p384=ECKey.generate_key("P-384", {"kid": f"p384-{self.number}", "use": "sig"}, private=True),
            weak=forgeries.weak_key(),
            encrypting=RSAKey.generate_key(2048, {"kid": "encrypting", "use": "enc"}, private=True),
        )
        self.before = [] if old is None else [old.rsa]

    def claims(self, nonce: str) -> dict[str, Any]:
        now = int(time.time())
        times = {"iat": now, "exp": now + 300, "auth_time": now}
        return {"iss": self.url, "aud": CLIENT, "azp": CLIENT, "nonce": nonce, **times, **self.user}

    def token(self, nonce: str) -> str:
        claims, before = self.claims(nonce), (self.last_nonce, self.last_token)
        self.last_nonce = nonce
        if self.forge is not None:
            return forgeries.ALL[self.forge](claims, self.keys, before)
        header = {"alg": "RS256", "kid": self.keys.rsa.kid, "typ": "JWT"}
        self.last_token = jws.serialize_compact(header, json.dumps(claims), self.keys.rsa)
        return self.last_token


def app_of(state: State) -> Starlette:
    async def configuration(_request: Request) -> Response:
        doors = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        return JSONResponse({"issuer": state.url} | {name: state.url + path for name, path in doors.items()})

    async def jwks(_request: Request) -> Response:
        state.jwks_read += 1
        keys = [key.as_dict(private=False) for key in (*state.keys.published(), *state.before)]
        return JSONResponse({"keys": [*keys, forgeries.SHARED]})

    async def authorize(request: Request) -> Response:
        asked = dict(request.query_params)
        if asked.get("client_id") != CLIENT or asked.get("code_challenge_method") != "S256":
            return JSONResponse({"error": "invalid_request"}, 400)
        code = secrets.token_urlsafe(24)
        state.codes[code] = asked
        sent = {"code": code, "state": asked["state"], "iss": state.url}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(sent)}", 302)

    async def token(request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        given = base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '+')}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {given}":
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = state.codes.pop(form["code"], None)
        if state.lax:
            asked = asked or state.used.get(form["code"])
        if asked is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        state.used[form["code"]] = asked
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (challenge, form["redirect_uri"]) != (asked["code_challenge"], asked["redirect_uri"]) and not state.lax:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": state.token(asked["nonce"])})

    async def control(request: Request) -> Response:
        told = await request.json()
        if told.pop("rotate", False):
            state.rotate()
        for name, value in told.items():
            setattr(state, name, value)
        return JSONResponse({"jwks_read": state.jwks_read})

    return Starlette(
        routes=[
            Route("/.well-known/openid-configuration", configuration),
            Route("/jwks", jwks),
            Route("/authorize", authorize),
            Route("/token", token, methods=["POST"]),
            Route("/control", control, methods=["POST"]),
        ]
    )


if __name__ == "__main__":
    port = int(sys.argv[1])
    uvicorn.run(app_of(State(f"http://127.0.0.1:{port}")), host="127.0.0.1", port=port, log_level="warning")
