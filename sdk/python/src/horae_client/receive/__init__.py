"""Receives calls: verifies the signature, parses the call, and lets it take effect once.

>>> from horae_client.receive import Receiver
>>> receiver = Receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
>>> def publish(call):
...     print("published", call.key)
>>> status, headers, body = receiver.answer(signed(receiver, {"key": "article-42"}), publish)
published article-42
>>> status
204
"""

from horae_client.receive.calls import Call, Received
from horae_client.receive.once import ddl, effective_once, once
from horae_client.receive.signatures import BadSignature, sign, verify
from horae_client.receive.web import Receiver

__all__ = ["BadSignature", "Call", "Received", "Receiver", "ddl", "effective_once", "once", "sign", "verify"]
