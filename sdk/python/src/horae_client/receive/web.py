"""Receivers for web frameworks: one line verifies a call, runs the handler and answers."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from horae_client.outcomes import Outcome
from horae_client.receive.calls import Answer, Call, Received, answer_of, call_of
from horae_client.receive.signatures import TOLERANCE, BadSignature, keys_of, verify

Handler = Callable[[Call], Any]


class Receiver:
    """Turns a handler of calls into a view of your framework.

    A handler takes the call. A return means success (None: 204). `Declined`, `Retry` and `Unrecoverable`, raised or
    returned, mean something else. A call without a valid signature is answered with 401 and reaches no handler.

    >>> from horae_client.receive import Receiver
    >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    """

    def __init__(self, secrets: str | Iterable[str], *, tolerance: float = TOLERANCE) -> None:
        self.secrets = [secrets] if isinstance(secrets, str) else list(secrets)
        self.tolerance = tolerance
        keys_of(self.secrets)  # a bad secret raises at the start, not at the first call

    def call(self, received: Received) -> Call:
        """Verify a request and return its call; raises `BadSignature` for any other request.

        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> receiver.call(signed(receiver, {"key": "article-42"})).key
        'article-42'
        """
        signed_id = verify(self.secrets, received.headers, received.body, tolerance=self.tolerance)
        return call_of(received, signed_id)

    def answer(self, received: Received, handler: Handler) -> Answer:
        """Verify a request, run the handler and return status, headers and body: for any other framework.

        >>> from horae_client import Declined
        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> receiver.answer(signed(receiver, {}), lambda call: Declined("no longer pending"))[:2]
        (200, {'Horae-Outcome': 'declined', 'Content-Type': 'text/plain; charset=utf-8'})
        """
        try:
            return answer_of(handler(self.call(received)))
        except BadSignature as error:
            return 401, {}, str(error).encode()
        except Outcome as outcome:
            return answer_of(outcome)

    async def answer_later(self, received: Received, handler: Handler) -> Answer:
        """Like `answer`, for a handler that may be a coroutine function. A plain function should not block.

        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> async def publish(call):
        ...     return {"published": call.key}
        >>> await receiver.answer_later(signed(receiver, {"key": "a"}), publish)
        (200, {'Content-Type': 'application/json'}, b'{"published":"a"}')
        """
        try:
            said = handler(self.call(received))
            return answer_of(await said if inspect.isawaitable(said) else said)
        except BadSignature as error:
            return 401, {}, str(error).encode()
        except Outcome as outcome:
            return answer_of(outcome)

    def starlette(self, handler: Handler) -> Callable[[Any], Awaitable[Any]]:
        """A route of FastAPI or Starlette: `app.add_route("/hooks", receiver.starlette(publish), methods=["POST"])`.

        A plain function runs in a thread of the framework.

        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> from starlette.applications import Starlette
        >>> app = Starlette()
        >>> app.add_route("/hooks", receiver.starlette(lambda call: None), methods=["POST"])
        """
        from starlette.concurrency import run_in_threadpool  # noqa: PLC0415 - only where it is used
        from starlette.responses import Response  # noqa: PLC0415

        waits = inspect.iscoroutinefunction(inspect.unwrap(handler))

        async def view(request: Any) -> Any:
            received = Received(request.headers, await request.body())
            if waits:
                status, headers, body = await self.answer_later(received, handler)
            else:
                status, headers, body = await run_in_threadpool(self.answer, received, handler)
            return Response(body, status, headers)

        return view

    def flask(self, handler: Handler) -> Callable[[], Any]:
        """A view of Flask: `app.post("/hooks")(receiver.flask(publish))`.

        >>> from flask import Flask
        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> view = Flask("app").post("/hooks")(receiver.flask(lambda call: None))
        """
        from flask import Response, request  # noqa: PLC0415 - only where it is used

        def view() -> Any:
            status, headers, body = self.answer(Received(dict(request.headers), request.get_data()), handler)
            return Response(body, status, headers)

        view.__name__ = getattr(handler, "__name__", "horae")
        return view

    def django(self, handler: Handler) -> Callable[[Any], Any]:
        """A view of Django: `path("hooks", receiver.django(publish))`.

        >>> from django.urls import path
        >>> from horae_client.receive import Receiver
        >>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> urls = [path("hooks", receiver.django(lambda call: None))]
        """
        from django.http import HttpResponse  # noqa: PLC0415 - only where it is used

        def view(request: Any) -> Any:
            if request.method != "POST":
                return HttpResponse(status=405)
            status, headers, body = self.answer(Received(request.headers, request.body), handler)
            return HttpResponse(body, status=status, headers=headers)

        view.csrf_exempt = True  # type: ignore[attr-defined] # a caller has a signature, not a cookie
        return view
