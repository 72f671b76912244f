#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two DHCP servers that share a pool through a real etcd, while all of them fail: dhcp_shared_test.py DHCP_TEST_SERVER.

Servers, clients and etcd are on loopback; each server speaks to etcd by TLS, through a relay of this program, which can
fall silent and say later what it was told, or break. One server's clock is nearly as far ahead as is allowed. Servers
are killed and started again, or stopped for longer than a lease lasts; so is etcd. Meanwhile clients get leases, renew
them, give them back or forget them. Who held which address from when to when is written down, as the client sees it
that counts its lease from when the ACK came; no two clients may have held one address at a time.

The same clients with servers that share nothing have to be found to overlap, or the rest would prove nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).parents[2]
LEASE, MAX_SKEW = 3, 1
AHEAD_MS = {1: 0, 2: 900}
POOL_SIZE, CLIENTS = 8, 12
CHAOS_SECONDS = 60
ALONE_SECONDS = 12
PATIENCE = 30  # until what is well again serves
LEAST_ACKS = 60
COOKIE = b"\x63\x82\x53\x63"
DISCOVER, OFFER, REQUEST, ACK, NAK, RELEASE = 1, 2, 3, 5, 6, 7


# --- the history and its checker


@dataclasses.dataclass(frozen=True)
class Held:
    """One client's right to an address, in seconds of one clock."""

    address: str
    client: str
    start: float
    end: float
    server: str


def overlaps(history: list[Held]) -> list[tuple[Held, Held]]:
    """Pairs of different clients that held one address at one time."""
    found = []
    by_address: dict[str, list[Held]] = {}
    for held in history:
        if held.end > held.start:
            by_address.setdefault(held.address, []).append(held)
    for held_here in by_address.values():
        for one, other in itertools.combinations(sorted(held_here, key=lambda h: h.start), 2):
            if one.client != other.client and other.start < one.end:
                found.append((one, other))
    return found


def check_the_checker() -> None:
    def held(client: str, start: float, end: float, address: str = "a") -> Held:
        return Held(address, client, start, end, "s")

    assert not overlaps([])
    assert not overlaps([held("x", 0, 3), held("y", 3, 6)])
    assert not overlaps([held("x", 0, 3), held("x", 1, 4)]), "a client may renew"
    assert not overlaps([held("x", 0, 3), held("y", 1, 2, "b")])
    assert not overlaps([held("x", 0, 5), held("y", 2, 2)]), "given back before it began"
    assert len(overlaps([held("y", 2, 6), held("x", 0, 3)])) == 1
    assert len(overlaps([held("x", 0, 9), held("x", 4, 5), held("y", 6, 7)])) == 1, "under a later, shorter one"
    assert len(overlaps([held("x", 0, 9), held("y", 1, 2), held("z", 1.5, 3)])) == 3


# --- etcd, and the way to it


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def etcd_path() -> str:
    script = "source scripts/tools.sh && tool_path etcd"
    path = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    if not os.access(path, os.X_OK):
        sys.exit("FAILED: etcd is not installed: run scripts/tools.sh etcd")
    return path


def make_keys(folder: pathlib.Path) -> None:
    """An authority, and what it has signed for etcd and its client."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test", "-days", "2")
    for name, usage in (("server", "serverAuth,clientAuth"), ("client", "clientAuth")):
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "more").write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\n")
        signer = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "more")
        openssl("x509", "-req", "-in", f"{name}.csr", *signer, "-out", f"{name}.crt")


class Process:
    """A program that is started, killed, stopped and let go on."""

    def __init__(self, arguments: list[str], log: pathlib.Path) -> None:
        self.arguments, self.log = arguments, log
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=log, text=True)

    def signal(self, number: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(number)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


class Etcd(Process):
    def __init__(self, folder: pathlib.Path) -> None:
        self.port = free_port()
        url, peer = f"https://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        super().__init__(
            [
                etcd_path(),
                *("--data-dir", str(folder / "etcd"), "--log-level", "error"),
                *("--listen-client-urls", url, "--advertise-client-urls", url),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", f"default={peer}"),
                *("--cert-file", str(folder / "server.crt"), "--key-file", str(folder / "server.key")),
                *("--trusted-ca-file", str(folder / "ca.crt"), "--client-cert-auth"),
            ],
            folder / "etcd.log",
        )


class Relay:
    """Carries connections to etcd."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.is_open = threading.Event()
        self.is_open.set()
        self.lock = threading.Lock()
        self.sockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """What is said waits, and arrives when it is thawed."""
        self.is_open.clear()

    def thaw(self) -> None:
        self.is_open.set()

    def cut(self) -> None:
        with self.lock:
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self.sockets.clear()

    def _accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            with self.lock:
                self.sockets |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.is_open.wait()
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


# --- servers


class Server(Process):
    def __init__(self, program: str, number: int, folder: pathlib.Path, store: list[str]) -> None:
        self.address = f"127.0.0.{number}"
        self.port = free_port()
        super().__init__(
            [
                program,
                *("--database", str(folder / f"server{number}.db"), "--server", self.address, "--cidr", "127.0.0.0/8"),
                *("--pool", f"127.1.0.1-127.1.0.{POOL_SIZE}", "--lease", str(LEASE), "--port", str(self.port)),
                *("--clock-ahead", str(AHEAD_MS[number]), *store),
            ],
            folder / f"server{number}.log",
        )

    def start(self) -> None:
        super().start()
        assert self.process
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line.startswith("ready"):
            raise RuntimeError(f"the server {self.address} did not start: {self.log.read_text()[-2000:]}")
        threading.Thread(target=self._drain, args=(self.process,), daemon=True).start()

    @staticmethod
    def _drain(process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for _ in process.stdout:
            pass


def store_arguments(folder: pathlib.Path, relay: Relay) -> list[str]:
    files = {"--ca": "ca.crt", "--certificate": "client.crt", "--key": "client.key"}
    return [
        *("--store", f"https://127.0.0.1:{relay.port}", "--prefix", "/hcpnet/test", "--max-skew", str(MAX_SKEW)),
        *(word for option, name in files.items() for word in (option, str(folder / name))),
    ]


# --- clients


class Client:
    """Speaks to both servers at once, as a broadcast would, and writes down what it may use until when."""

    def __init__(self, number: int, servers: list[Server], history: list[Held], lock: threading.Lock) -> None:
        self.number, self.generation = number, 0
        self.servers, self.history, self.lock = servers, history, lock
        self.random = random.Random(number)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.acks = self.naks = 0
        self.served_by: set[str] = set()
        self.xid = number << 16

    @property
    def mac(self) -> bytes:
        return bytes([2, 0, *self.generation.to_bytes(2, "big"), 0, self.number])

    def _send(self, kind: int, servers: list[Server], ciaddr: str = "0.0.0.0", **options: str) -> None:
        self.xid += 1
        packet = struct.pack("!BBBBIHH4s12x16s192x", 1, 1, 6, 0, self.xid, 0, 0, socket.inet_aton(ciaddr), self.mac)
        packet += COOKIE + bytes([53, 1, kind])
        for name, code in (("requested", 50), ("server", 54)):
            if name in options:
                packet += bytes([code, 4]) + socket.inet_aton(options[name])
        for server in servers:
            with contextlib.suppress(OSError):
                self.socket.sendto(packet + b"\xff", (server.address, server.port))

    def _answers(self, patience: float) -> Iterator[tuple[int, str, str, int, float]]:
        """Kind, address, server, lease time and arrival of each answer to the last message."""
        end = time.monotonic() + patience
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                packet = self.socket.recv(2048)
            except OSError:  # time is up, or a port that nobody listens on
                continue
            now = time.monotonic()
            if struct.unpack("!I", packet[4:8])[0] != self.xid:
                continue
            options, at = {}, 240
            while at < len(packet) and packet[at] != 255:
                options[packet[at]] = packet[at + 2 : at + 2 + packet[at + 1]]
                at += 2 + packet[at + 1]
            lease = struct.unpack("!I", options[51])[0] if 51 in options else 0
            server = socket.inet_ntoa(options[54])
            yield options[53][0], socket.inet_ntoa(packet[16:20]), server, lease, now

    def _wait_for_ack(self) -> str | None:
        """The address, from whoever answers first; an ACK is written down whether or not another answer came before."""
        address = None
        for kind, given, server, lease, now in self._answers(1.5):
            if kind == NAK:
                self.naks += 1
            if kind != ACK:
                continue
            address = given
            self.acks += 1
            self.served_by.add(server)
            with self.lock:
                self.history.append(Held(given, self.mac.hex(":"), now, now + lease, server))
            break
        return address

    def get(self, first: Server) -> str | None:
        self._send(DISCOVER, self.servers)
        offers = {}
        for kind, address, server, _, _ in self._answers(0.4):
            if kind == OFFER:
                offers[server] = address
            if len(offers) == len(self.servers):
                break
        if not offers:
            return None
        server = first.address if first.address in offers else next(iter(offers))
        self._send(REQUEST, self.servers, requested=offers[server], server=server)
        return self._wait_for_ack()

    def renew(self, address: str) -> str | None:
        servers = self.servers if self.random.random() < 0.5 else [self.random.choice(self.servers)]
        self._send(REQUEST, servers, ciaddr=address)
        return self._wait_for_ack()

    def give_back(self, address: str) -> None:
        """To one server; the other one learns of it by etcd.

        It may be stopped, and hear it late: that must not end a lease that the same client has got since, which nobody
        could tell from this one. So it comes back as another machine.
        """
        now = time.monotonic()
        mine = (address, self.mac.hex(":"))
        with self.lock:
            for i, held in enumerate(self.history):
                if (held.address, held.client) == mine and held.end > now:
                    self.history[i] = dataclasses.replace(held, end=now)
        server = self.random.choice(self.servers)
        self._send(RELEASE, [server], ciaddr=address, server=server.address)
        self.generation += 1

    def run(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            address = self.get(self.random.choice(self.servers))
            for _ in range(self.random.randint(0, 4)):
                if address is None or is_over():
                    break
                time.sleep(LEASE / 3)
                address = self.renew(address)
            if address and self.random.random() < 0.3:
                self.give_back(address)
            time.sleep(self.random.uniform(0.05, 1.0))


def run_clients(
    servers: list[Server], seconds: float, history: list[Held], chaos: Callable[[float], None]
) -> list[Client]:
    lock = threading.Lock()
    clients = [Client(n, servers, history, lock) for n in range(1, CLIENTS + 1)]
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=c.run, args=(lambda: time.monotonic() > end,)) for c in clients]
    for thread in threads:
        thread.start()
    try:
        chaos(end)
    finally:
        for thread in threads:
            thread.join()
    return clients


# --- what goes wrong


def fail_and_recover(seed: int, end: float, server: Server, relay: Relay) -> None:
    """One fault of one server after the other."""
    rng = random.Random(seed)
    while time.monotonic() < end:
        time.sleep(rng.uniform(0.5, 2.5))
        fault = rng.choice(("kill", "stop", "freeze", "cut"))
        if fault == "kill":
            server.kill()
            time.sleep(rng.uniform(0, 1))
            server.start()
        elif fault == "stop":
            server.signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0.2, 3 * LEASE))
            server.signal(signal.SIGCONT)
        elif fault == "freeze":
            relay.freeze()
            time.sleep(rng.uniform(0.2, 3 * LEASE))
            relay.thaw()
        else:
            relay.cut()


def fail_etcd(seed: int, end: float, etcd: Etcd) -> None:
    rng = random.Random(seed)
    while time.monotonic() < end - 10:
        time.sleep(rng.uniform(6, 10))
        if rng.random() < 0.5:
            etcd.signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0.5, LEASE))
            etcd.signal(signal.SIGCONT)
        else:
            etcd.kill()
            time.sleep(rng.uniform(0, 1))
            etcd.start()


def report(what: str, history: list[Held], clients: list[Client]) -> list[tuple[Held, Held]]:
    found = overlaps(history)
    acks, naks = (sum(getattr(c, name) for c in clients) for name in ("acks", "naks"))
    print(f"{what}: {acks} ACKs, {naks} NAKs, {len(found)} overlaps", flush=True)
    return found


def check_shared(program: str, folder: pathlib.Path) -> list[str]:
    make_keys(folder)
    etcd = Etcd(folder)
    relays = [Relay(etcd.port), Relay(etcd.port)]
    servers = [Server(program, i + 1, folder, store_arguments(folder, relays[i])) for i in range(2)]
    history: list[Held] = []
    failures: list[str] = []
    seed = int(os.environ.get("HCPNET_SEED", "6"))
    errors: list[BaseException] = []

    def chaos(end: float) -> None:
        def guarded(run: Callable[..., None], *arguments: object) -> None:
            try:
                run(*arguments)
            except BaseException as error:  # told by the main thread
                errors.append(error)

        faults = [
            *(
                threading.Thread(target=guarded, args=(fail_and_recover, seed + i, end, servers[i], relays[i]))
                for i in (0, 1)
            ),
            threading.Thread(target=guarded, args=(fail_etcd, seed + 2, end, etcd)),
        ]
        for fault in faults:
            fault.start()
        for fault in faults:
            fault.join()

    try:
        etcd.start()
        for server in servers:
            server.start()
        clients = run_clients(servers, CHAOS_SECONDS, history, chaos)
        found = report("shared", history, clients)
        failures += [f"{one} and {other}" for one, other in found]
        failures += [f"a fault could not be made: {error!r}" for error in errors]
        if sum(c.acks for c in clients) < LEAST_ACKS:
            failures.append(f"fewer than {LEAST_ACKS} ACKs: too little was tried")
        if set().union(*(c.served_by for c in clients)) != {s.address for s in servers}:
            failures.append("one of the servers has served nobody")
        failures += check_recovery(servers, history)
        failures += [f"at the end: {one} and {other}" for one, other in overlaps(history) if (one, other) not in found]
    finally:
        for relay in relays:
            relay.thaw()
        for process in (*servers, etcd):
            process.kill()
    if failures:
        for held in sorted(history, key=lambda h: h.start):
            print(f"{held.start:.3f} to {held.end:.3f}: {held.address} is {held.client}'s, says {held.server}")
        for process in (*servers, etcd):
            print(f"--- {process.log.name}\n{process.log.read_text()[-3000:]}")
    return failures


def check_recovery(servers: list[Server], history: list[Held]) -> list[str]:
    """All is well again: each server by itself gives a new client an address."""
    failures = []
    for number, server in enumerate(servers):
        client = Client(200 + number, [server], history, threading.Lock())
        end = time.monotonic() + PATIENCE
        while not (address := client.get(server)) and time.monotonic() < end:
            time.sleep(0.2)
        if not address:
            failures.append(f"{server.address} gives no address although all is well")
            continue
        client.give_back(address)
    return failures


def check_alone(program: str, folder: pathlib.Path) -> list[str]:
    """Without etcd between them the same servers give addresses twice, and that is found."""
    servers = [Server(program, n, folder, []) for n in (1, 2)]
    history: list[Held] = []
    try:
        for server in servers:
            server.start()
        clients = run_clients(servers, ALONE_SECONDS, history, lambda _: None)
    finally:
        for server in servers:
            server.kill()
    return [] if report("not shared", history, clients) else ["servers that share nothing were not found out"]


def main() -> int:
    check_the_checker()
    failures = []
    for check in (check_alone, check_shared):
        with tempfile.TemporaryDirectory() as folder:
            failures += check(sys.argv[1], pathlib.Path(folder))
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
