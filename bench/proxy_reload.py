# SPDX-License-Identifier: Apache-2.0
"""How long a reload takes until connections follow it; used by proxy_compare.py."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time

from proxy_peers import BACKENDS, LISTENERS, MARKER, Proxy

DEADLINE_SECONDS = 60.0


def make_hello(name: str) -> bytes:
    """A ClientHello as OpenSSL writes it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


class Marker:
    """Two backends; each answers with its number, so that a client knows which routes it met."""

    def __init__(self) -> None:
        self.listeners = [socket.create_server((BACKENDS[0], 0), backlog=1024) for _ in range(2)]
        self.ports: list[int] = [listener.getsockname()[1] for listener in self.listeners]
        self.hello = make_hello(MARKER)
        self.wake = os.pipe()
        self.thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Marker:
        """Begin to answer."""
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Answer nobody any more."""
        os.write(self.wake[1], b"x")
        self.thread.join()
        for listener in self.listeners:
            listener.close()
        for end in self.wake:
            os.close(end)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self.wake[0], *self.listeners], [], [])
            if self.wake[0] in ready:
                return
            for number, listener in enumerate(self.listeners):
                if listener in ready:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        connection.recv(65536)
                        connection.sendall(bytes([number]))

    def ask(self, proxy: Proxy) -> int | None:
        """Which of the two a new connection reaches; None: neither."""
        try:
            with socket.create_connection((LISTENERS[0], proxy.port), timeout=5) as client:
                client.sendall(self.hello)
                answer = client.recv(1)
        except OSError:
            return None
        return answer[0] if answer else None


def wait_for_rest(proxy: Proxy, processes: int) -> None:
    """Until the old routes are taken apart, and their processes gone: HAProxy loses a signal before that."""
    deadline = time.perf_counter() + DEADLINE_SECONDS
    while time.perf_counter() < deadline:
        before = proxy.cpu_seconds()
        time.sleep(0.1)
        if len(proxy.members()) == processes and abs(proxy.cpu_seconds() - before) < 0.002:
            return
    raise RuntimeError(f"{proxy.name} does not come to rest after a reload; its output is in {proxy.log}")


def reload_seconds(proxy: Proxy, marker: Marker, rounds: int) -> tuple[list[float], int]:
    """The seconds of each reload, and how many connections reached neither backend meanwhile."""
    deadline = time.perf_counter() + DEADLINE_SECONDS
    while marker.ask(proxy) != 0:
        if time.perf_counter() > deadline:
            raise RuntimeError(f"{proxy.name} does not route {MARKER}; its output is in {proxy.log}")
    seconds, failed = [], 0
    processes = len(proxy.members())
    for number in range(1, rounds + 1):
        wait_for_rest(proxy, processes)
        proxy.prepare(marker.ports[number % 2])
        begin = time.perf_counter()
        proxy.reload()
        while (reached := marker.ask(proxy)) != number % 2:
            failed += reached is None
            if time.perf_counter() > begin + DEADLINE_SECONDS:
                raise RuntimeError(f"{proxy.name} does not follow a reload; its output is in {proxy.log}")
        seconds.append(time.perf_counter() - begin)
    return seconds, failed
