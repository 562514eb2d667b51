"""Answers that mean harm, each as the bytes on the wire: some two hundred and fifty, for every reader of answers.

Whoever says one closes afterwards, so an answer without an end is one that ends early.
"""

import gzip
import zlib
from collections.abc import Iterator

NESTED = 60_000
FAR = b"Mon, 01 Jan 99999999999 00:00:00 GMT"
GOOD_DATE = b"Mon, 01 Jan 2024 00:00:00 GMT"
DATES = (
    FAR,
    b"Mon, 01 Jan 0000 00:00:00 GMT",
    b"Mon, 31 Feb 2024 00:00:00 GMT",
    b"Mon, 01 Jan 2024 99:99:99 GMT",
    b"Mon, 01 Jan 2024 00:00:00 +99999999",
    b"Fri, 31 Dec 9999 23:59:59 -2359",
    b"Sat, 01 Jan 0001 00:00:00 +2359",
    b"1 1 1 1 1",
    b",",
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 5000,
    b"9" * 19,
    "\N{ARABIC-INDIC DIGIT NINE}".encode() * 20,
    b"\xb2\xb3",
    b"\xff\xfe",
    b"(((((((((((((((((((((" * 20,
    b'"' * 500,
    b"@,:;<>[]\\" * 50,
)
BODIES = {
    "nothing": b"",
    "half of it": b'{"results": [',
    "brackets in brackets": b"[" * NESTED,
    "brackets in brackets, closed": b"[" * 20_000 + b"]" * 20_000,
    "braces in braces": b'{"a":' * 10_000,
    "results in brackets": b'{"results": ' + b"[" * 50_000,
    "items in brackets": b'{"items": ' + b"[" * 50_000,
    "keys in brackets": b'{"keys": ' + b"[" * 50_000,
    "data in braces": b'{"data": ' * 5_000,
    "no UTF-8": b'{"access_token": "\xff\xfe", "items": "\xff", "keys": "\xff", "data": "\xff"}',
    "no UTF-8 in a name": b'{"\xff": 1}',
    "half a surrogate": b'{"access_token": "\\ud800", "id_token": "\\ud800", "issuer": "\\ud800"}',
    "zeros": bytes(1000),
    "a NUL in each text": b'{"access_token": "a\\u0000b", "id_token": "\\u0000", "next": "\\u0000", "items": []}',
    "no JSON": b"<html>" * 100,
    "a bare minus": b"-",
    "a comma": b",",
    "null": b"null",
    "true": b"true",
    "a text": b'"results"',
    "a number": b"7",
    "a number of sixty thousand digits": b'{"status": ' + b"9" * 60_000 + b"}",
    "a list of numbers beyond all numbers": b"[" + b"1e999," * 5_000 + b"1]",
    "two roots": b"{}{}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"access_token": "a"}'.encode("utf-16"),
    "UTF-32": '{"access_token": "a"}'.encode("utf-32"),
    "an empty object": b"{}",
    "an empty list": b"[]",
    "the same name twice": b'{"access_token": "a", "access_token": 7}',
    "sixty thousand names": b"{" + b",".join(b'"%d":1' % n for n in range(6_000)) + b"}",
    "NaN": b'{"expires_in": NaN, "access_token": "a"}',
    "infinity": b'{"expires_in": Infinity, "access_token": "a"}',
    "a life without end": b'{"access_token": "a", "expires_in": 1e308}',
    "a life of text": b'{"access_token": "a", "expires_in": "inf"}',
    "a life of no number": b'{"access_token": "a", "expires_in": "nan"}',
    "a life before its birth": b'{"access_token": "a", "expires_in": -1e308}',
    "a token of two lines": b'{"access_token": "a\\r\\nX-Evil: 1"}',
    "a token of sixty thousand letters": b'{"access_token": "' + b"a" * 60_000 + b'"}',
    "an empty token": b'{"access_token": ""}',
    "a token that is a list": b'{"access_token": ["a"]}',
    "results of another shape": b'{"results": {"status": 200}}',
    "results of another number": b'{"results": [{"status": 200}]}',
    "a result beyond all statuses": b'{"results": [{"status": 99999}, {"status": 0}, {"status": -1}]}',
    "a result that waits for ever": b'{"results": [' + b",".join([b'{"status": 503, "retry_after": 1e30}'] * 3) + b"]}",
    "results that wait long": b'{"results": ['
    + b",".join([b'{"status": 503, "retry_after": 9223372036854775807}'] * 3)
    + b"]}",
    "a page without items": b'{"next": "x"}',
    "a page of numbers": b'{"items": [1, 2, 3]}',
    "a page whose next is itself": b'{"items": [], "next": ""}',
    "a page of a cursor without end": b'{"items": [], "next": "' + b"x" * 50_000 + b'"}',
    "a time before all times": b'{"items": [{"key": "a", "at": "0001-01-01T00:00:00+23:59"}]}',
    "a time after all times": b'{"items": [{"key": "a", "at": "9999-12-31T23:59:59-23:59"}]}',
    "a wrapped key that is none": b'{"data": {"ciphertext": "vault:v1", "plaintext": "%%%"}}',
    "a key that is no base64": b'{"data": {"ciphertext": "a:b:c", "plaintext": "\\u00e9\\u00e9"}}',
    "a key of half a letter": b'{"data": {"ciphertext": ":::", "plaintext": "A"}}',
    "an issuer of another name": b'{"issuer": "x", "authorization_endpoint": "", "token_endpoint": "", "jwks_uri": ""}',
    "an id token of three dots": b'{"id_token": "..."}',
    "keys that are none": b'{"keys": [1, null, "a", {"kid": 7, "key_ops": 7, "n": 7, "kty": []}]}',
}
HEADS = {
    "no status": b"HTTP/1.1\r\n\r\n",
    "a status of letters": b"HTTP/1.1 abc X\r\n\r\n",
    "a status of four digits": b"HTTP/1.1 2000 X\r\n\r\n",
    "a status of nothing": b"HTTP/1.1  X\r\n\r\n",
    "a negative status": b"HTTP/1.1 -20 X\r\n\r\n",
    "status 0": b"HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n",
    "status 999": b"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n",
    "HTTP/0.9": b"hello",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\nhello",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
    "another protocol": b"220 mail.example ESMTP\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "rubbish": bytes(range(256)) * 20,
    "lines without their CR": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
    "a header without a name": b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "a header of two lines": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "a header with a space before its colon": b"HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 0\r\n\r\n",
    "a header with a NUL": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
    "a header with a lone CR": b"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n",
    "a name of other letters": b"HTTP/1.1 200 OK\r\n\xff\xfe: a\r\nContent-Length: 0\r\n\r\n",
    "a value of other letters": b"HTTP/1.1 503 X\r\nRetry-After: \xff\xfe\x80\r\nContent-Length: 0\r\n\r\n",
    "ninety-nine headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 99 + b"Content-Length: 0\r\n\r\n",
    "a thousand headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"Content-Length: 0\r\n\r\n",
    "a header of 31 KB": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 31_000 + b"\r\nContent-Length: 0\r\n\r\n",
    "a header of 90 KB": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 90_000 + b"\r\nContent-Length: 0\r\n\r\n",
    "a reason of 90 KB": b"HTTP/1.1 200 " + b"y" * 90_000 + b"\r\nContent-Length: 0\r\n\r\n",
    "many Retry-After": b"HTTP/1.1 503 X\r\n" + b"Retry-After: 1\r\n" * 50 + b"Content-Length: 0\r\n\r\n",
    "an outcome of nonsense": b"HTTP/1.1 200 OK\r\nHorae-Outcome: \xff\x00\r\nContent-Length: 0\r\n\r\n",
    "an outcome declined in capitals": b"HTTP/1.1 200 OK\r\nHorae-Outcome:  DECLINED \r\nContent-Length: 0\r\n\r\n",
    "a keep-alive beyond all numbers": b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=%s\r\nContent-Length: 0\r\n\r\n"
    % (b"9" * 400),
    "a keep-alive of nothing": b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=\r\nContent-Length: 0\r\n\r\n",
    "a keep-alive below nothing": b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-5\r\nContent-Length: 0\r\n\r\n",
    "a redirect to itself": b"HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "a redirect to a file": b"HTTP/1.1 307 X\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    "an upgrade": b"HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n\0\0\0",
    "interim answers without end": b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
    "early hints and no answer": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
    "an answer without a body that has one": b"HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\nhello",
    "not modified with a body": b"HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\nhello",
    "a second answer": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n",
}
LENGTHS = {
    "two lengths": b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "two lengths in one": b"Content-Length: 2, 3\r\n\r\nok",
    "the same length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "length and chunks": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "a length with a sign": b"Content-Length: +2\r\n\r\nok",
    "a length in hex": b"Content-Length: 0x2\r\n\r\nok",
    "a length of text": b"Content-Length: two\r\n\r\nok",
    "a length of nothing": b"Content-Length:\r\n\r\nok",
    "a length beyond all numbers": b"Content-Length: 99999999999999999999999\r\n\r\n",
    "the largest length": b"Content-Length: 18446744073709551615\r\n\r\nx",
    "a length past what comes": b"Content-Length: 1000\r\n\r\nhalf",
    "a length short of what comes": b"Content-Length: 1\r\n\r\nmuch more",
    "another encoding": b"Transfer-Encoding: gzip\r\n\r\nxx",
    "an encoding of nonsense": b"Transfer-Encoding: \xff\r\n\r\nxx",
    "chunks twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "chunks not last": b"Transfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "a chunk size beyond all numbers": b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 30 + b"\r\nx",
    "a negative chunk": b"Transfer-Encoding: chunked\r\n\r\n-1\r\nx",
    "a chunk of letters": b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "half a chunk": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhal",
    "a chunk longer than it says": b"Transfer-Encoding: chunked\r\n\r\n1\r\nhello\r\n0\r\n\r\n",
    "a chunk without its end": b"Transfer-Encoding: chunked\r\n\r\n2\r\nok0\r\n\r\n",
    "chunks without an end": b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
    "chunks of one byte": b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 3000 + b"0\r\n\r\n",
    "an extension of 60 KB": b"Transfer-Encoding: chunked\r\n\r\n2;" + b"x" * 60_000 + b"\r\nok\r\n0\r\n\r\n",
    "trailers": b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nHorae-Outcome: declined\r\n\r\n",
    "a trailer that is a length": b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n",
    "a trailer that is a date": b"Transfer-Encoding: chunked\r\n\r\n0\r\nDate: "
    + FAR
    + b"\r\nRetry-After: "
    + FAR
    + b"\r\n\r\n",
    "a thousand trailers": b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
    "half a trailer": b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    "a trailer of other letters": b"Transfer-Encoding: chunked\r\n\r\n0\r\n\xff: \xff\r\n\r\n",
}
BOMB = gzip.compress(bytes(5_000_000))
ENCODED = {
    "gzip": BOMB,
    "gzip of gzip": gzip.compress(BOMB),
    "half a gzip": BOMB[: len(BOMB) // 2],
    "deflate": zlib.compress(bytes(1_000_000)),
    "br": b"\xff" * 500,
    "zstd": b"\x28\xb5\x2f\xfd" + b"\xff" * 500,
    "identity, gzip, gzip": BOMB,
    "\xff": b"x",
}
CHARSETS = ("utf-7", "utf-16", "idna", "rot13", "unicode_escape", "hex", "zlib_codec", "x" * 5000)
CUT_AT = range(1, 60)


def head(status: int, *lines: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 %d X" % status, *lines, b"", b""])


def whole(status: int, body: bytes, *lines: bytes) -> bytes:
    return head(status, *lines, b"Content-Length: %d" % len(body)) + body


def _each() -> Iterator[tuple[str, bytes]]:
    for name, body in BODIES.items():
        yield f"a body: {name}", whole(200, body)
        yield f"a body until the end: {name}", head(200, b"Connection: close") + body
    for n, date in enumerate(DATES):
        for status in (429, 503):
            yield f"Retry-After {n} with {status}", whole(status, b"", b"Retry-After: " + date)
        yield f"Date {n}", whole(503, b"", b"Retry-After: " + GOOD_DATE, b"Date: " + date)
    for name, raw in HEADS.items():
        yield f"a head: {name}", raw
    for name, raw in LENGTHS.items():
        yield f"a length: {name}", b"HTTP/1.1 200 OK\r\n" + raw
    for name, body in ENCODED.items():
        yield f"encoded: {name}", whole(200, body, b"Content-Encoding: " + name.encode("latin-1"))
    for name in CHARSETS:
        content = b"Content-Type: application/json; charset=" + name.encode()
        yield f"charset: {name[:20]}", whole(200, b'{"access_token": "a"}', content)
    good = whole(200, b'{"access_token": "a", "results": []}')
    for at in CUT_AT:
        yield f"cut after {at} bytes", good[:at]


CORPUS: dict[str, bytes] = dict(_each())
