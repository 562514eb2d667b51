"""The server of tests: real rows, a real node, a receiver, and a clock that moves from event to event.

Tests use it through `horae_client.testing`, which starts `python -m horae.testing` and imports nothing of the server.
Our own tests also use it in their own process, because they look at its rows.
"""

from horae.testing.server import TestServer, serving
from horae_client.testing.calls import ReceivedCall

__all__ = ["ReceivedCall", "TestServer", "serving"]
