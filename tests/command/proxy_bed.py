# SPDX-License-Identifier: Apache-2.0
"""A running proxy of the network of hcpnet_command.py, whose cluster's API server is on loopback."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from hcpnet_command import NETWORK, PORT_MAPS, Hcpnet, wait_until
from test_envoy import client_hello

NAME = "api.blue.example.com"
READY_S = 60


class Server:
    """A thread for each connection; close() ends all of them."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        self.keep(connection)
        with contextlib.suppress(OSError):
            self.serve(connection)
        self.drop(connection)

    def keep(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def drop(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: not self._open, "connections end")


class Echo(Server):
    """Sends back what it gets, until the client ends."""

    def serve(self, connection: socket.socket) -> None:
        while data := connection.recv(65536):
            connection.sendall(data)


class Tunnel:
    """A connection whose ClientHello led it to an Echo."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=30)
        self.ask(client_hello(NAME))

    def ask(self, data: bytes) -> None:
        self.socket.sendall(data)
        got = b""
        while len(got) < len(data):
            part = self.socket.recv(65536)
            assert part, "closed early"
            got += part
        assert got == data

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)
        assert self.socket.recv(1) == b""
        self.socket.close()


class Bed:
    """Processes that serve one state directory, one after the other."""

    def __init__(self, hcpnet: Hcpnet, target_port: int) -> None:
        self.hcpnet = hcpnet
        self.target_port = target_port
        self.logs: list[Path] = []
        hcpnet.network.write_text(NETWORK)
        self.endpoints = hcpnet.folder / "endpoints.yaml"
        self.endpoints.write_text(f'"clusters-blue/kube-apiserver:6443": ["127.0.0.1:{target_port}"]\n')

    def set_workers(self, count: int) -> None:
        policy = f"""\
---
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {{name: vlan, namespace: hcp}}
spec: {{targetRef: {{kind: Infra, name: vlan}}, workers: {count}}}
"""
        self.hcpnet.network.write_text(NETWORK + policy)

    def start(self, *arguments: str, port_maps: list[str] = PORT_MAPS, wait: bool = True) -> subprocess.Popen[str]:
        """Starts a process and waits until it says that it serves."""
        notify = self.hcpnet.folder / f"notify{len(self.logs)}.sock"
        log = self.hcpnet.folder / f"log{len(self.logs)}"
        self.logs.append(log)
        full = [self.hcpnet.command, "up", str(self.hcpnet.network), "--state-dir", str(self.hcpnet.state)]
        full += ["--endpoints", str(self.endpoints), *port_maps, "--no-watch", "--access-log", "/dev/null", *arguments]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, log.open("w") as errors:
            manager.bind(str(notify))
            manager.settimeout(0.05)
            environment = {**os.environ, "NOTIFY_SOCKET": str(notify)}
            process = subprocess.Popen(full, stderr=errors, text=True, env=environment)
            self.hcpnet.processes.append(process)
            deadline = time.monotonic() + READY_S
            while wait:
                try:
                    said = manager.recv(1000).split(b"\n")
                    assert said[0] == b"READY=1"
                    if "--takeover" in arguments:
                        assert said[1] == f"MAINPID={process.pid}".encode()
                    break
                except TimeoutError:
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
        return process

    def wait_for_log(self, which: int, text: str) -> None:
        wait_until(lambda: text in self.logs[which].read_text(), text)

    def listener(self) -> tuple[str, int]:
        return self.hcpnet.bound("proxy", 6443)


class Load:
    """Clients that connect, are echoed and end orderly, one after the other, until stopped."""

    def __init__(self, address: tuple[str, int], clients: int = 4) -> None:
        self.address = address
        self.done = 0
        self.failures: list[str] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                Tunnel(self.address).close()
                self.done += 1
            except (OSError, AssertionError) as e:
                self.failures.append(repr(e))

    def go_on(self, count: int = 50) -> None:
        """Until so many more have ended well, or one has failed."""
        enough = self.done + count
        wait_until(lambda: self.done >= enough or self.failures, "no connection gets through")

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def stop(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=30)
