# SPDX-License-Identifier: Apache-2.0
"""What the tests speak to a stack with: clients written here, so that they share no code with what they test."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import hcpnet
import pytest

SPEC = """
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {{name: vlan, namespace: hcp}}
spec:
  networkConfig: {{cidr: 127.81.1.0/24, gateway: 127.81.1.1, networkAttachmentDefinition: vlan}}
  infraComponents:
    dhcp: {{serverIP: 127.81.1.2, rangeStart: 127.81.1.100, rangeEnd: 127.81.1.149}}
    dns: {{serverIP: 127.81.1.3, baseDomain: example.com, clusterName: {cluster}}}
    proxy: {{serverIP: 127.81.1.4, controlPlaneNamespace: ns, internalProxyService: 198.51.100.1}}
"""
POLICY = """
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: files, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan}
  zoneFiles: [{path: zones/corp, zone: corp.example.org}]
"""
WITH_FILES = {"dir/set.yaml": SPEC.format(cluster="blue") + POLICY}
RECORD_FILES = {"dir/zones/corp": "$TTL 9\n@ SOA ns h 1 2 3 4 5\nx A 192.0.2.1\n"}


def errors_of(error: pytest.ExceptionInfo[hcpnet.SpecError]) -> list[tuple[str, int | None, str]]:
    """File, line and code of each; warnings are told beside them."""
    found = error.value.diagnostics
    return [(d.file, d.line, d.code) for d in found if d.severity is hcpnet.Severity.error]


CLIENT = "127.81.1.200"  # in the VLAN, outside every pool
TIMEOUT = 10.0  # seconds; passed only when something is broken


@dataclass
class Vlan:
    """A spec file in a folder of its own, and the options of a stack that serves it on free ports."""

    folder: Path
    endpoints: dict[str, list[str]] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The spec file."""
        return self.folder / "set.yaml"

    def write(self, cluster: str) -> None:
        """Writes the set with one hosted cluster."""
        self.file.write_text(SPEC.format(cluster=cluster))

    def options(self) -> dict[str, Any]:
        """Arguments of hcpnet.Stack."""
        options: dict[str, Any] = {
            "files": [self.file],
            "state_dir": self.folder,
            "port_map": {67: 0, 53: 0, 443: 0, 6443: 0},
        }
        if self.endpoints:
            path = self.folder / "endpoints.yaml"
            path.write_text("".join(f'"{name}": {places!r}\n' for name, places in self.endpoints.items()))
            options["endpoints"] = [path]
        return options


def bound(stack: hcpnet.Stack, service: str, port: int) -> tuple[str, int]:
    """Where a stack listens for what is configured on `port`."""
    for listener in stack.listeners():
        if listener.service == service and listener.configured.port == port:
            return str(listener.bound.address), listener.bound.port
    raise LookupError(f"no {service} listener on port {port}")


def client_hello(server_name: str | None, alpn: list[str] | None = None) -> bytes:
    """The first bytes that OpenSSL sends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if alpn:
        context.set_alpn_protocols(alpn)
    outgoing = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=server_name)
    with contextlib.suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds; what is waited for happens on another thread, soon."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def udp_client() -> socket.socket:
    """A socket with an address of the VLAN."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(TIMEOUT)
    client.bind((CLIENT, 0))
    return client


def release(server: tuple[str, int], mac: bytes, address: str) -> None:
    """Gives a lease up; nothing answers that."""
    message = bytearray(dhcp_message(mac, 7, b"\x36\x04" + IPv4Address(server[0]).packed))
    message[12:16] = IPv4Address(address).packed
    with udp_client() as client:
        client.sendto(message, server)


def ask(server: tuple[str, int], name: str) -> tuple[int, list[str]]:
    """RCODE and A records of one query (RFC 1035 section 4)."""
    question = (
        b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0" + struct.pack("!HH", 1, 1)
    )
    with udp_client() as client:
        client.sendto(struct.pack("!6H", 0x4843, 0x0100, 1, 0, 0, 0) + question, server)
        reply = client.recv(512)
    identifier, flags, _, answers, _, _ = struct.unpack_from("!6H", reply)
    assert identifier == 0x4843
    offset = 12 + len(question)
    addresses = []
    for _ in range(answers):
        while reply[offset] not in (0,) and reply[offset] < 0xC0:
            offset += reply[offset] + 1
        offset += 2 if reply[offset] >= 0xC0 else 1
        kind, _, _, size = struct.unpack_from("!HHIH", reply, offset)
        offset += 10
        if kind == 1:
            addresses.append(str(IPv4Address(reply[offset : offset + size])))
        offset += size
    return flags & 15, addresses


def dhcp_message(mac: bytes, kind: int, options: bytes = b"") -> bytes:
    """A client's message (RFC 2131 section 2)."""
    header = struct.pack("!BBBBIHH16s16s192s", 1, 1, 6, 0, 0x48435000 + mac[-1], 0, 0, b"", mac, b"")
    return header + b"\x63\x82\x53\x63" + bytes([53, 1, kind]) + options + b"\xff"


def dhcp_options(reply: bytes) -> dict[int, bytes]:
    """Options by code."""
    options = {}
    offset = 240
    while reply[offset] != 255:
        if reply[offset] == 0:
            offset += 1
            continue
        options[reply[offset]] = reply[offset + 2 : offset + 2 + reply[offset + 1]]
        offset += 2 + reply[offset + 1]
    return options


def take_lease(server: tuple[str, int], mac: bytes, host_name: str = "") -> str:
    """DISCOVER to ACK, with the Host Name option if there is one; the address."""
    name = bytes([12, len(host_name)]) + host_name.encode() if host_name else b""
    with udp_client() as client:
        client.sendto(dhcp_message(mac, 1), server)
        offer = client.recv(1500)
        assert dhcp_options(offer)[53] == b"\x02"
        address = offer[16:20]
        request = b"\x32\x04" + address + b"\x36\x04" + dhcp_options(offer)[54]
        client.sendto(dhcp_message(mac, 3, request + name), server)
        assert dhcp_options(client.recv(1500))[53] == b"\x05"
    return str(IPv4Address(address))


def own_sockets() -> set[int]:
    """Numbers of the sockets that this process has open."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the folder's own
            if str(link.readlink()).startswith("socket:"):
                found.add(int(link.name))
    return found


def read_all(connection: socket.socket) -> bytes:
    """Everything until the peer closes its side."""
    data = b""
    while part := connection.recv(65536):
        data += part
    return data


@contextlib.contextmanager
def server_of(answer: Callable[[bytes], bytes]) -> Iterator[tuple[str, int]]:
    """A backend that answers what it got, once the client has finished."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(ConnectionError):
                    connection.settimeout(TIMEOUT)
                    connection.sendall(answer(read_all(connection)))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def echo_server() -> contextlib.AbstractContextManager[tuple[str, int]]:
    """A backend that sends back what it got, once the client has finished."""
    return server_of(lambda data: data)


def through_proxy(server: tuple[str, int], payload: bytes) -> bytes:
    """Sends, ends its side, and returns what came back."""
    with socket.create_connection(server, TIMEOUT, (CLIENT, 0)) as connection:
        connection.sendall(payload)
        connection.shutdown(socket.SHUT_WR)
        return read_all(connection)


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a new interpreter; a hang dumps all stacks and fails."""
    prelude = f"""
        import faulthandler, sys
        faulthandler.dump_traceback_later(90, exit=True)
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import hcpnet
    """
    code = textwrap.dedent(prelude) + textwrap.dedent(script)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


def daemon_threads(call: str) -> str:
    """The lines of a script that ends while four daemon threads are calling: indented as scripts of tests are."""
    return f"""
        under_way = threading.Barrier(5)
        def work():
            {call}
            under_way.wait()
            while True:
                {call}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        under_way.wait()
        print("alive", flush=True)
    """
