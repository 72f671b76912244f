# SPDX-License-Identifier: Apache-2.0
"""A proxy engine inside a program that has a way to look names up, and a list of endpoints, of its own."""

import contextlib
import socket
import threading
from collections.abc import Iterator

from hcpnet import Endpoint
from hcpnet.proxy import Backend, Engine, Listener, ListenerKind, Route, RouteTable

SSH = 22


def make_table(endpoints: list[Endpoint]) -> RouteTable:
    """Connections go to one backend, whatever they say: ssh, for example. Without endpoints its name is looked up."""
    return RouteTable(
        [Listener(Endpoint("127.0.0.1", SSH), kind=ListenerKind.tcp)],
        [Backend("bastion", host="bastion.internal", port=SSH, endpoints=endpoints)],
        [Route(SSH, "bastion", not_tls=True)],
    )


@contextlib.contextmanager
def greeter(greeting: str) -> Iterator[Endpoint]:
    """A server that greets one client and ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(greeting.encode())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Endpoint(*server.getsockname())
        thread.join()


def greeting_at(server: Endpoint) -> str:
    with socket.create_connection((str(server.address), server.port), timeout=10) as client:
        return client.recv(100).decode()


def main() -> None:
    with greeter("one") as one, greeter("two") as two:

        def resolve(host: str, port: int) -> list[Endpoint]:
            print("asked for", host)
            return [one]

        # A port that the system chooses stands in for 22.
        with Engine(make_table([]), port_map={SSH: 0}, resolve=resolve, access_log=print) as engine:
            [listener] = engine.listeners()
            print(greeting_at(listener.bound))
            engine.replace(make_table([two]))  # from a watch of endpoints, say
            print(greeting_at(listener.bound))


if __name__ == "__main__":
    main()
