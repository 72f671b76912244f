#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves mixed load on loopback and looks at what it costs to stay up.

Passes when, after the load has ended, the serving process holds as many descriptors as before it, when its resident
memory at the end is at most 1 MiB above that after the first fifth of the time, and when no single answer was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from support import Vlan, ask, client_hello, echo_server, take_lease, through_proxy

MAX_GROWTH_BYTES = 1024 * 1024
SETTLE_SECONDS = 30.0

SERVER = """
import json, sys, hcpnet
options = json.loads(input())
options["port_map"] = {int(k): v for k, v in options["port_map"].items()}
with hcpnet.Stack(**options, watch=True) as stack:
    places = {f"{l.service} {l.configured.port}": [str(l.bound.address), l.bound.port] for l in stack.listeners()}
    print(json.dumps(places), flush=True)
    sys.stdin.read()
"""


class Load:
    """Threads that ask until they are told to stop, and what they saw."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.threads: list[threading.Thread] = []

    def run(self, name: str, step: Callable[[int], bool], pause: float = 0.0) -> None:
        """Repeats `step` with a growing number; it returns whether the answer was right."""

        def loop() -> None:
            number = 0
            while not self.done.is_set():
                try:
                    right, said = step(number), "wrong answer"
                except Exception as error:
                    right, said = False, repr(error)
                self.counts[name] += 1
                if not right and len(self.wrong) < 20:
                    self.wrong.append(f"{name} {number}: {said}")
                number += 1
                self.done.wait(pause)

        self.threads.append(threading.Thread(target=loop))
        self.threads[-1].start()

    def stop(self) -> None:
        """Waits for every thread."""
        self.done.set()
        for thread in self.threads:
            thread.join()


def descriptors(process: int) -> int:
    """Open files of a process."""
    return len(os.listdir(f"/proc/{process}/fd"))


def resident_bytes(process: int) -> int:
    """Resident memory of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def start_load(load: Load, places: dict[str, tuple[str, int]], vlan: Vlan) -> None:
    """DNS, DHCP, short and long connections, and a file that changes."""
    dns, dhcp, proxy = places["dns 53"], places["dhcp 67"], places["proxy 6443"]
    hello = client_hello("api.blue.example.com")

    def known(number: int) -> bool:
        return ask(dns, "api.blue.example.com") == (0, ["127.81.1.4"])

    def unknown(number: int) -> bool:
        return ask(dns, f"n{number}.blue.example.com") == (3, [])

    def lease(number: int) -> bool:
        return take_lease(dhcp, bytes([2, 0, 0, 0, 0, number % 40])).startswith("127.81.1.1")

    def short(number: int) -> bool:
        return through_proxy(proxy, hello) == hello

    def long(number: int) -> bool:
        payload = hello + os.urandom(256 * 1024)
        return through_proxy(proxy, payload) == payload

    def stranger(number: int) -> bool:
        with contextlib.suppress(ConnectionResetError):
            return through_proxy(proxy, client_hello(f"n{number}.example.net")) == b""
        return True

    def touch(number: int) -> bool:
        vlan.write("blue")
        return True

    for name, step in [("dns", known), ("nxdomain", unknown), ("short", short), ("long", long)]:
        load.run(name, step)
    for name, step, pause in [("dhcp", lease, 0.02), ("stranger", stranger, 0.05), ("reload", touch, 5.0)]:
        load.run(name, step, pause)


def judge(before: int, after: int, early: int, late: int, load: Load) -> list[str]:
    """Everything that is not as it should be."""
    problems = list(load.wrong)
    if after != before:
        problems.append(f"descriptors: {before} before the load, {after} after it")
    if late - early > MAX_GROWTH_BYTES:
        problems.append(f"resident memory grew by {late - early} bytes")
    problems += [f"{name}: no load at all" for name in ("dns", "dhcp", "short", "long") if not load.counts[name]]
    return problems


def main() -> int:
    """Runs it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, echo_server() as (host, port):
        vlan = Vlan(Path(folder), {"ns/kube-apiserver:6443": [f"{host}:{port}"]})
        vlan.write("blue")
        options = json.dumps(vlan.options(), default=str) + "\n"
        command = [sys.executable, "-c", SERVER]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(options)
            server.stdin.flush()
            places = {name: (place[0], place[1]) for name, place in json.loads(server.stdout.readline()).items()}
            before = descriptors(server.pid)
            load = Load()
            start_load(load, places, vlan)
            time.sleep(seconds / 5)
            early = resident_bytes(server.pid)
            time.sleep(seconds * 4 / 5)
            late = resident_bytes(server.pid)
            load.stop()
            deadline = time.monotonic() + SETTLE_SECONDS
            while (after := descriptors(server.pid)) != before and time.monotonic() < deadline:
                time.sleep(0.1)
            server.stdin.close()
            status = server.wait(30)
    problems = judge(before, after, early, late, load)
    if status != 0:
        problems.append(f"the server ended with status {status}")
    print(f"{seconds:.0f} s of load: {dict(load.counts)}")
    print(f"descriptors {before} -> {after}; resident memory {early >> 10} -> {late >> 10} KiB")
    for problem in problems:
        print(f"problem: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
