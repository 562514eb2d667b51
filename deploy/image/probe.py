#!/opt/horae/bin/python -IS
"""Asks the process of this container how it is; exit status 0 if each of its listeners answers 200.

`horae-probe` asks `/healthz`, `horae-probe /readyz` whether it makes progress. A node listens on
HORAE_NODE_MONITORING_PORT, an API process on HORAE_API_MONITORING_PORT; a port on which nobody listens is passed over,
and it is an error if nobody listens at all. Only small modules are imported: it runs every few seconds.
"""

import os
import socket
import sys

PORTS = {"HORAE_NODE_MONITORING_PORT": "8701", "HORAE_API_MONITORING_PORT": "8702"}
TIMEOUT_S = 3.0


def ask(port: int, path: str) -> bytes | None:
    """Returns the first line of the answer; None if nobody listens on the port."""
    try:
        connection = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
    except ConnectionRefusedError:
        return None
    with connection, connection.makefile("rb") as answer:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return answer.readline(100).strip()


def main(path: str = "/healthz") -> int:
    """Returns the exit status, and prints what is wrong."""
    ports = [int(os.environ.get(name, default)) for name, default in PORTS.items()]
    answers = {port: answer for port in ports if port and (answer := ask(port, path)) is not None}
    if not answers:
        print(f"nobody listens on {' or '.join(map(str, ports))}")
        return 1
    wrong = {port: answer for port, answer in answers.items() if b" 200 " not in answer}
    for port, answer in wrong.items():
        print(f"port {port}: {answer.decode(errors='replace')}")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2]))
    except OSError as error:
        sys.exit(f"no answer: {error}")
