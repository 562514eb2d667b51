"""A namespace whose packets the kernel drops."""

import socket
import subprocess
import sys
import threading

import pytest

from tests.system.namespace import Namespace, namespaces

ASK = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1); print(s.recv(5).decode())"

pytestmark = pytest.mark.skipif(not namespaces(), reason="network namespaces need root, ip, nsenter and nft")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def greet(server):
    while True:
        try:
            visitor, _ = server.accept()
        except OSError:
            return
        with visitor:
            visitor.sendall(b"hello")


def test_what_lives_in_it_reaches_its_ports_until_their_packets_are_dropped(port):
    namespace = Namespace([port])
    try:
        namespace.open()
        assert ask(namespace, port) == "hello\n"
        namespace.drop([port])
        assert "TimeoutError" in ask(namespace, port)
        namespace.allow()
        assert ask(namespace, port) == "hello\n"
    finally:
        namespace.close()


def ask(namespace, port):
    command = [*namespace.prefix, sys.executable, "-c", ASK, str(port)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
    return done.stdout or done.stderr
