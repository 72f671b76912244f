#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Normal traffic beside slow clients: slowloris.py --build FOLDER.

Slow clients hold a connection each and send one byte of a hello every second, until the proxy throws them out; then
they come again. They begin one after another, over as long as the proxy bears them, so that at any time some are
thrown out and some come. Passes when no normal client fails, and the 99th percentile of what normal clients wait, in
rounds with slow clients and without in turn, is at most 1.2 times as long with them (the median of the rounds' ratios).
Runs in a network namespace of its own: the proxy on core 0, everybody else on core 1. There normal clients have
real-time priority: what they would wait for the slow clients' own CPU time says nothing of the proxy.
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
MIN_RATE = 0.8  # of what slow clients are to do, so that nobody is measured beside clients that were starved
START_SECONDS = 5.0  # the proxy's inspect timeout
# What normal clients do: new connections, and short messages through tunnels that are there; how many at a time.
TRAFFIC = (("conn", 1), ("latency", 1), ("latency", 100))


def hold(count: int) -> None:
    """Keeps `count` slow clients until SIGTERM; says when all are there, and at the end what they did since."""
    os.nice(19)  # they must not take the core from those who are measured
    selector = selectors.DefaultSelector()
    clients: dict[int, tuple[socket.socket, int]] = {}

    def connect(position: int) -> None:
        client = socket.socket()
        client.connect((f"127.0.0.{position % 4 + 1}", PORT))
        client.send(HELLO[:1])
        clients[position] = (client, 1)
        selector.register(client, selectors.EVENT_READ, position)

    is_told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: is_told.append(number))
    begin, turn = time.monotonic(), 0
    ready_at, sent_since, came_again = 0.0, 0, 0
    while not is_told:
        elapsed = time.monotonic() - begin
        for position in range(len(clients), min(count, int(elapsed / START_SECONDS * count))):
            connect(position)
        if len(clients) == count and ready_at == 0:
            ready_at, sent_since, came_again = time.monotonic(), 0, 0
            print("ready", flush=True)
        # Each second is cut into as many turns as there are clients, and each turn is one client's.
        due = int(elapsed * count)
        for position in (number % count for number in range(turn, due)):
            if position not in clients:
                continue
            client, sent = clients[position]
            try:
                client.send(HELLO[sent : sent + 1])
                clients[position] = (client, sent + 1)
                sent_since += 1
            except OSError:
                pass  # thrown out; the selector tells
        turn = due
        for key, _ in selector.select(timeout=0.002):
            selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]
            connect(key.data)
            came_again += 1
    seconds = time.monotonic() - ready_at
    print(json.dumps({"sent": sent_since / seconds, "came_again": came_again / seconds}), flush=True)


def measure(build: Path, mode: str, count: int, seconds: float) -> float:
    """The 99th percentile in microseconds."""
    where = ["taskset", "-c", "1", "chrt", "--fifo", "1"]
    load = [f"{build}/bench/proxy_load", mode, str(PORT), str(BACKEND_PORT), str(seconds), str(count), "517", "20"]
    done = subprocess.run([*where, *load], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["errors"] == 0, report
    assert report["messages"] > 100, report
    return float(report["p99_us"])


def run(a: argparse.Namespace) -> int:
    """One line for each round and kind of traffic; the exit status."""
    server = subprocess.Popen(
        ["taskset", "-c", "0", f"{a.build}/bench/proxy_server", str(PORT), str(BACKEND_PORT), "20", "1"]
    )
    ratios: dict[tuple[str, int], list[float]] = {traffic: [] for traffic in TRAFFIC}
    try:
        time.sleep(0.5)
        for number in range(a.rounds):
            without = {(mode, count): measure(a.build, mode, count, a.seconds) for mode, count in TRAFFIC}
            slow = subprocess.Popen(
                ["taskset", "-c", "1", sys.executable, __file__, "--hold", str(a.clients)],
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                assert slow.stdout is not None
                assert slow.stdout.readline() == "ready\n"
                for mode, count in TRAFFIC:
                    beside, alone = measure(a.build, mode, count, a.seconds), without[mode, count]
                    assert slow.poll() is None, "the slow clients are gone"
                    ratios[mode, count].append(beside / alone)
                    print(
                        f"round {number + 1}, {mode} {count}: p99 {alone:.0f} us without, {beside:.0f} us with",
                        flush=True,
                    )
                slow.terminate()
                rates = json.loads(slow.communicate(timeout=30)[0])
                assert rates["sent"] > MIN_RATE * a.clients, rates
                assert rates["came_again"] > MIN_RATE * a.clients / START_SECONDS, rates
            finally:
                slow.kill()
                slow.wait()
            time.sleep(1)  # the proxy closes what they left
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=30)
    for (mode, count), all_of_it in ratios.items():
        print(f"{mode} {count}: {median(all_of_it):.2f} times ({min(all_of_it):.2f} to {max(all_of_it):.2f})")
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
        return 0
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
