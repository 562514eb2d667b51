"""A service manager for tests: a real datagram socket that remembers each message and when it came."""

import threading
import time
from socket import AF_UNIX, SHUT_RDWR, SOCK_DGRAM, socket


class Manager:
    """Receives messages in a thread, so that the times of their arrival are true while a test waits."""

    def __init__(self, path, watchdog_s=1.0):
        self.messages = []
        self.environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": str(int(watchdog_s * 1e6))}
        self._socket = socket(AF_UNIX, SOCK_DGRAM)
        self._socket.bind(str(path))
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def has(self, line):
        """Whether a message had this line."""
        return self.count(line) > 0

    def count(self, line):
        """How many messages had this line."""
        return sum(line in lines for _, lines in self.messages)

    @property
    def statuses(self):
        """The sentences of the status lines, in their order."""
        lines = [line for _, lines in self.messages for line in lines]
        return [line.removeprefix("STATUS=") for line in lines if line.startswith("STATUS=")]

    def silence_s(self, line):
        """Seconds since the last message with this line."""
        return time.monotonic() - max(at for at, lines in self.messages if line in lines)

    def close(self):
        self._socket.shutdown(SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _receive(self):
        while text := self._socket.recv(4096):
            self.messages.append((time.monotonic(), text.decode().split("\n")))
