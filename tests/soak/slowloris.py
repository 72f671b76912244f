#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Normal traffic beside slow clients: slowloris.py --build FOLDER.

Slow clients hold a connection each and send one byte of a hello every second, until the proxy throws them out; then
they come again. Passes when no normal client fails, and the 99th percentile of what normal clients wait, in rounds with
slow clients and without in turn, is at most 1.2 times as long with them (the median of the rounds' ratios).
Runs in a network namespace of its own: the proxy on core 0, everybody else on core 1.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

MAX_RATIO = 1.2
PORT, BACKEND_PORT = 700, 701  # below what clients get
HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(506)  # the beginning of a hello that never ends
# What normal clients do: new connections, and short messages through tunnels that are there.
TRAFFIC = {"conn": 1, "latency": 8}


def hold(count: int) -> None:
    """Keeps `count` slow clients; says so once they are all there, and goes on until it is killed."""
    os.nice(19)  # they must not take the core from those who are measured
    selector = selectors.DefaultSelector()
    clients: dict[int, tuple[socket.socket, int]] = {}

    def connect(position: int) -> None:
        client = socket.socket()
        client.connect((f"127.0.0.{position % 4 + 1}", PORT))
        client.send(HELLO[:1])
        clients[position] = (client, 1)
        selector.register(client, selectors.EVENT_READ, position)

    for position in range(count):
        connect(position)
    print("ready", flush=True)
    begin, turn = time.monotonic(), 0
    while True:
        # Each second is cut into as many turns as there are clients, and each turn is one client's.
        due = int((time.monotonic() - begin) * count)
        for position in (number % count for number in range(turn, due)):
            client, sent = clients[position]
            try:
                client.send(HELLO[sent : sent + 1])
                clients[position] = (client, sent + 1)
            except OSError:
                pass  # thrown out; the selector tells
        turn = due
        for key, _ in selector.select(timeout=0.002):
            selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]
            connect(key.data)


def measure(build: Path, mode: str, count: int, seconds: float) -> float:
    """The 99th percentile in microseconds."""
    words = ["taskset", "-c", "1", f"{build}/bench/proxy_load", mode, str(PORT), str(BACKEND_PORT)]
    done = subprocess.run([*words, str(seconds), str(count), "517", "20"], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["errors"] == 0, report
    assert report["messages"] > 100, report
    return float(report["p99_us"])


def run(a: argparse.Namespace) -> int:
    """One line for each round and kind of traffic; the exit status."""
    server = subprocess.Popen(
        ["taskset", "-c", "0", f"{a.build}/bench/proxy_server", str(PORT), str(BACKEND_PORT), "20", "1"]
    )
    ratios: dict[str, list[float]] = {mode: [] for mode in TRAFFIC}
    try:
        time.sleep(0.5)
        for number in range(a.rounds):
            without = {mode: measure(a.build, mode, count, a.seconds) for mode, count in TRAFFIC.items()}
            slow = subprocess.Popen(
                ["taskset", "-c", "1", sys.executable, __file__, "--hold", str(a.clients)],
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                assert slow.stdout is not None
                assert slow.stdout.readline() == "ready\n"
                for mode, count in TRAFFIC.items():
                    beside = measure(a.build, mode, count, a.seconds)
                    assert slow.poll() is None, "the slow clients are gone"
                    ratios[mode].append(beside / without[mode])
                    print(
                        f"round {number + 1}, {mode}: p99 {without[mode]:.0f} us without, {beside:.0f} us with",
                        flush=True,
                    )
            finally:
                slow.kill()
                slow.wait()
            time.sleep(1)  # the proxy closes what they left
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=30)
    for mode, all_of_it in ratios.items():
        print(f"{mode}: {median(all_of_it):.2f} times ({min(all_of_it):.2f} to {max(all_of_it):.2f})")
    return 0 if all(median(all_of_it) <= MAX_RATIO for all_of_it in ratios.values()) else 1


def main() -> int:
    """Reads the arguments; moves into a network namespace of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="with proxy_server and proxy_load")
    parser.add_argument("--clients", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--hold", type=int, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.hold:
        hold(a.hold)
    if os.environ.get("HCPNET_SLOWLORIS_NAMESPACE") is None:
        os.environ["HCPNET_SLOWLORIS_NAMESPACE"] = "own"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for key, value in {"ip_local_port_range": "1024 65535", "tcp_max_tw_buckets": "32768"}.items():
        Path(f"/proc/sys/net/ipv4/{key}").write_text(value)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return run(a)


if __name__ == "__main__":
    raise SystemExit(main())
