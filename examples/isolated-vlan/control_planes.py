# SPDX-License-Identifier: Apache-2.0
"""TLS servers that stand for the control planes of two hosted clusters: each answers with its own name."""

from __future__ import annotations

import http.server
import ssl
import sys
import threading
from pathlib import Path

#: service, listening port, last byte of its address in each cluster
SERVICES = (
    ("kube-apiserver", 6443, 1),
    ("oauth-openshift", 6443, 2),
    ("ignition-server-proxy", 8443, 3),
    ("konnectivity-server", 8091, 4),
)
CLUSTERS = {"blue": 20, "red": 30}


def make_server(address: str, port: int, name: str, certificate: Path, key: Path) -> http.server.HTTPServer:
    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = f"{name}\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer((address, port), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


def main() -> None:
    folder, prefix, base = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for cluster, first in CLUSTERS.items():
        for service, port, offset in SERVICES:
            name = f"{cluster} {service}"
            server = make_server(
                f"{prefix}.{first + offset}",
                port + base,
                name,
                folder / f"{cluster}-{service}.crt",
                folder / f"{cluster}-{service}.key",
            )
            threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()  # until the starter goes away


if __name__ == "__main__":
    main()
