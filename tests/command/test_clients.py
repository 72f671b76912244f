# SPDX-License-Identifier: Apache-2.0
"""Real clients through the proxy, by server name, held through reloads and an upgrade."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
from api_server import ApiServer
from hcpnet_command import NETWORK, Hcpnet, wait_until
from proxy_bed import NAME, Bed, Server

WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3
KEEPALIVE_MS = 1000  # the konnectivity agent has 30 s, which no test can wait for


class Keys:
    """A certificate for NAME."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        words += ["-subj", "/CN=test", "-days", "2", "-addext", f"subjectAltName=DNS:{NAME}"]
        subprocess.run(
            [*words, "-keyout", self.key, "-out", self.certificate], check=True, capture_output=True, timeout=60
        )


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def reload(bed: Bed, is_edited: bool) -> None:
    """What is open must not notice."""
    bed.hcpnet.network.write_text(NETWORK.replace("0.149", "0.148") if is_edited else NETWORK)
    done = bed.hcpnet("reload", "--state-dir", str(bed.hcpnet.state))
    assert done.returncode == 0, done.stderr


def exec_request(verb: str, protocol: str, more: str) -> bytes:
    path = "/api/v1/namespaces/default/pods/p/exec?command=cat&stdin=true&stdout=true"
    return (
        f"{verb} {path} HTTP/1.1\r\nHost: {NAME}\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n{more}\r\n".encode()
    )


def masked_frame(payload: bytes) -> bytes:
    """A binary frame of a client: RFC 6455 section 5.2."""
    mask = os.urandom(4)
    return bytes([0x82, 0x80 | len(payload)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


class ExecServer(Server):
    """Answers an upgrade to WebSocket or SPDY/3.1 as an API server does for exec; then it echoes."""

    def __init__(self, keys: Keys) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(keys.certificate, keys.key)
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with self.context.wrap_socket(connection, server_side=True) as tls, tls.makefile("rwb") as stream:
            fields = {}
            stream.readline()
            while line := stream.readline().strip().decode():
                name, value = line.split(": ", 1)
                fields[name.lower()] = value
            answer = f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {fields['upgrade']}\r\n"
            if fields["upgrade"] == "websocket":
                digest = hashlib.sha1((fields["sec-websocket-key"] + WEBSOCKET_GUID).encode()).digest()
                answer += f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}\r\n"
            else:
                answer += f"X-Stream-Protocol-Version: {fields['x-stream-protocol-version']}\r\n"
            stream.write(answer.encode() + b"\r\n")
            stream.flush()
            while data := stream.read1(4096):
                stream.write(data)
                stream.flush()


@pytest.fixture
def exec_server(keys: Keys) -> Iterator[ExecServer]:
    server = ExecServer(keys)
    yield server
    server.close()


@pytest.mark.parametrize(
    ("verb", "protocol", "more"),
    [
        (
            "GET",
            "websocket",
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n",
        ),
        ("POST", "SPDY/3.1", "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"),
    ],
    ids=["websocket", "spdy"],
)
def test_exec_upgrade(hcpnet: Hcpnet, exec_server: ExecServer, keys: Keys, verb: str, protocol: str, more: str) -> None:
    bed = Bed(hcpnet, exec_server.port)
    old = bed.start()
    context = ssl.create_default_context(cafile=str(keys.certificate))
    with (
        socket.create_connection(bed.listener(), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=NAME) as tls,
    ):
        tls.sendall(exec_request(verb, protocol, more))
        head = b""
        while b"\r\n\r\n" not in head:
            head += tls.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        if protocol == "websocket":  # the example of RFC 6455 section 1.3
            assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in head

        def talk(text: bytes) -> None:
            frame = masked_frame(b"\0" + text)
            tls.sendall(frame)
            got = b""
            while len(got) < len(frame):
                got += tls.recv(4096)
            assert got == frame

        talk(b"before")
        reload(bed, True)
        talk(b"after a reload")
        bed.start("--takeover")
        talk(b"after an upgrade")
        assert old.poll() is None
    assert old.wait(timeout=30) == 0


def as_bytes(message: bytes) -> bytes:
    return message


def test_a_grpc_stream_with_keepalive(hcpnet: Hcpnet, keys: Keys) -> None:
    """As the konnectivity agent holds it, with shorter keepalive: HTTP/2 pings that find no answer end the stream."""

    def echo(requests: Iterator[bytes], _: object) -> Iterator[bytes]:
        yield from requests

    handler = grpc.method_handlers_generic_handler(
        "test.Tunnel", {"Connect": grpc.stream_stream_rpc_method_handler(echo, as_bytes, as_bytes)}
    )
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[("grpc.http2.min_ping_interval_without_data_ms", 100), ("grpc.http2.max_ping_strikes", 0)],
    )
    server.add_generic_rpc_handlers((handler,))
    identity = grpc.ssl_server_credentials([(keys.key.read_bytes(), keys.certificate.read_bytes())])
    port = server.add_secure_port("127.0.0.1:0", identity)
    server.start()
    try:
        bed = Bed(hcpnet, port)
        old = bed.start()
        host, listener = bed.listener()
        channel = grpc.secure_channel(
            f"{host}:{listener}",
            grpc.ssl_channel_credentials(keys.certificate.read_bytes()),
            options=[
                ("grpc.ssl_target_name_override", NAME),
                ("grpc.keepalive_time_ms", KEEPALIVE_MS),
                ("grpc.keepalive_timeout_ms", 5000),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.max_pings_without_data", 0),
                ("grpc.enable_retries", 0),
            ],
        )
        outgoing: list[bytes] = []
        changed = threading.Condition()
        is_over = threading.Event()

        def requests() -> Iterator[bytes]:
            while True:
                with changed:
                    changed.wait_for(lambda: outgoing or is_over.is_set(), timeout=60)
                    if not outgoing:
                        return
                    message = outgoing.pop(0)
                yield message

        stream = channel.stream_stream("/test.Tunnel/Connect", as_bytes, as_bytes)(requests(), timeout=180)

        def talk(text: bytes) -> None:
            with changed:
                outgoing.append(text)
                changed.notify_all()
            assert next(stream) == text

        talk(b"before")
        for round_ in range(2):
            reload(bed, round_ == 0)
            talk(b"after a reload")
        bed.start("--takeover")
        time.sleep(3 * KEEPALIVE_MS / 1000)  # the pings of a silent stream, answered or not
        talk(b"after an upgrade")
        assert old.poll() is None, "the stream has moved to another process"
        with changed:
            is_over.set()
            changed.notify_all()
        assert list(stream) == []
        channel.close()
        assert old.wait(timeout=30) == 0
    finally:
        server.stop(None)


def through_proxy(api_server: ApiServer, address: tuple[str, int]) -> list[str]:
    """Kubectl as it reaches NAME."""
    config = json.loads((api_server.folder / "kubeconfig").read_text())
    config["clusters"][0]["cluster"] = {
        "server": f"https://{NAME}:{address[1]}",
        "certificate-authority": str(api_server.folder / "ca.crt"),
    }
    path = api_server.folder / "kubeconfig.proxy"
    path.write_text(json.dumps(config))
    return [api_server.kubectl_path, "--kubeconfig", str(path)]


class Relay(Server):
    """Where a client can't be told an address beside the name: an HTTP proxy that knows one target."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, client: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert head.startswith(b"CONNECT ")
        server = socket.create_connection(self.target)
        self.keep(server)
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        back = threading.Thread(target=self._copy, args=(server, client))
        back.start()
        self._copy(client, server)
        back.join()
        self.drop(server)

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def test_kubectl_get_and_a_watch_through_reloads_and_an_upgrade(hcpnet: Hcpnet, api_server: ApiServer) -> None:
    bed = Bed(hcpnet, api_server.port)
    old = bed.start()
    relay = Relay(bed.listener())
    words = [*through_proxy(api_server, bed.listener())]
    environment = {**os.environ, "HOME": str(api_server.folder), "HTTPS_PROXY": relay.url}
    got = subprocess.run([*words, "get", "namespaces"], capture_output=True, text=True, timeout=60, env=environment)
    assert got.returncode == 0, got.stderr
    assert "kube-system" in got.stdout

    seen = api_server.folder / "watch"
    with seen.open("w") as output:
        watch = subprocess.Popen(
            [*words, "get", "configmaps", "--watch", "-o", "name"], stdout=output, stderr=output, env=environment
        )
    try:

        def make(name: str) -> None:
            assert api_server.kubectl("create", "configmap", name).returncode == 0
            wait_until(lambda: f"configmap/{name}\n" in seen.read_text(), seen.read_text())

        make("before")
        for round_ in range(3):
            reload(bed, round_ % 2 == 0)
            make(f"reload-{round_}")
        bed.start("--takeover")
        make("upgrade")
        reload(bed, True)
        make("after")
        assert watch.poll() is None
        assert old.poll() is None, "the watch has moved to another process"
        assert hcpnet.ask("status")["troubles"] == []
    finally:
        watch.terminate()
        watch.wait(timeout=20)
        relay.close()
    assert old.wait(timeout=60) == 0


def test_curl_and_openssl(hcpnet: Hcpnet, api_server: ApiServer) -> None:
    bed = Bed(hcpnet, api_server.port)
    bed.start()
    host, port = bed.listener()
    resolve = ["--resolve", f"{NAME}:{port}:{host}", "--cacert", str(api_server.folder / "ca.crt")]
    done = subprocess.run(
        ["curl", "-sS", *resolve, f"https://{NAME}:{port}/livez"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "ok"), done.stderr
    words = ["openssl", "s_client", "-connect", f"{host}:{port}", "-servername", NAME]
    words += ["-verify_return_error", "-verify_hostname", NAME, "-CAfile", str(api_server.folder / "ca.crt")]
    done = subprocess.run(words, input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Verify return code: 0 (ok)" in done.stdout
