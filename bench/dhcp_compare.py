# SPDX-License-Identifier: Apache-2.0
"""Compares hcpnet's DHCP server with others on this machine and prints tables as Markdown; run by scripts/bench dhcp.

Everything happens in two network namespaces with a cable between them, which end with this program. Servers run on
core 0 beyond one end, the clients on core 1 beyond the other. In each round every server is started anew, without
leases, and measured in turn; a figure is the median of its rounds, a ratio the median of the ratios inside each round.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))
from dhcp_peers import (
    CLIENT_ADDRESS,
    CLIENT_INTERFACE,
    HUGE,
    SERVER_ADDRESS,
    SERVER_INTERFACE,
    SMALL,
    Network,
    Server,
    make_server,
)

PEERS = ["kea", "isc", "dnsmasq"]
CLIENTS = 50_000  # as many different ones as a /16 has room for
MANY_LEASES = 60_000
RESTORED_LEASES = 1_000_000
MAX_DROPPED = 0.001  # perfdhcp ends without waiting for the very last answers
STEP = 1.15  # how finely rates are searched: less proves nothing


class Bench:
    """Where clients run, and the servers' folders."""

    def __init__(self, a: argparse.Namespace, folder: Path, clients: int) -> None:
        self.a = a
        self.folder = folder
        self.started = 0
        self.clients = ["nsenter", f"--net=/proc/{clients}/ns/net", "taskset", "-c", "1"]

    def server(self, name: str, network: Network = SMALL) -> Server:
        """A server in a folder of its own."""
        self.started += 1
        return make_server(name, self.a.hcpnet, self.folder / f"{self.started}-{name}", network)

    def start(self, server: Server) -> float:
        """Seconds to the first answer."""
        return server.start("0", self.load_command(clients=1, once=1, patience=100))

    def load_command(self, **options: float) -> list[str]:
        """The generator on the link itself."""
        command = [*self.clients, self.a.load, "--interface", CLIENT_INTERFACE]
        for key, value in options.items():
            command += [f"--{key}", str(value)]
        return command

    def load(self, **options: float) -> dict:
        """One run of it; what comes back wrong measures nothing."""
        done = subprocess.run(self.load_command(**options), check=True, capture_output=True, text=True)
        result = json.loads(done.stdout)
        if result["duplicates"] or result["unsound"]:
            raise RuntimeError(f"wrong answers: {result}")
        return result

    def perfdhcp(self, rate: int) -> dict:
        """One run of it, as a relay on the clients' end."""
        done = subprocess.run(
            [
                *self.clients,
                *("perfdhcp", "-4", "-l", CLIENT_INTERFACE, "-r", str(rate), "-R", str(CLIENTS)),
                *("-p", str(self.a.seconds), "-W", "500000", SERVER_ADDRESS),
            ],
            capture_output=True,
            text=True,
        )
        numbers = {
            key: [int(n) for n in re.findall(rf"^{key} packets: (\d+)", done.stdout, re.MULTILINE)]
            for key in ("sent", "received")
        }
        if len(numbers["sent"]) != 2 or len(numbers["received"]) != 2:
            raise RuntimeError(f"perfdhcp: {done.stdout}{done.stderr}")
        asked, answered = numbers["sent"][0], numbers["received"][1]
        return {"asked": asked, "exchanges": answered, "dropped": 1 - answered / max(1, asked)}


def spread(values: list[float], form: str = "{:,.0f}") -> str:
    """The median, and what it lies between."""
    return f"{form.format(median(values))} ({form.format(min(values))} to {form.format(max(values))})"


# --- rates


def measured(server: Server, run: Callable[[], dict]) -> dict:
    """What a run gave, with what it cost."""
    before = server.cpu_seconds()
    result = run()
    result["cpu_us"] = (server.cpu_seconds() - before) / max(1, result["exchanges"]) * 1e6
    return result


def greatest_rate(bench: Bench, server: Server, guess: int) -> dict:
    """The greatest rate of perfdhcp at which nothing is dropped, found by steps of 15 %."""

    def run(rate: int) -> dict | None:
        result = measured(server, lambda: bench.perfdhcp(rate))
        result["rate"] = result["exchanges"] / bench.a.seconds
        # A generator that does not keep up is no fault of the server's, but proves no rate either.
        is_good = result["dropped"] <= MAX_DROPPED and result["asked"] >= 0.95 * rate * bench.a.seconds
        return result if is_good else None

    rate, best = guess, run(guess)
    going_up = best is not None
    while rate >= 10:
        rate = int(rate * STEP) if going_up else int(rate / STEP)
        result = run(rate)
        if going_up:
            if result is None:
                break
            best = result
        elif result is not None:
            return result
    if best is None:
        raise RuntimeError(f"{server.name} drops at every rate")
    return best


def first_guess(bench: Bench, name: str) -> int:
    """Somewhere near, from the clients on the link."""
    server = bench.server(name)
    try:
        bench.start(server)
        result = bench.load(clients=CLIENTS, seconds=bench.a.seconds, window=64)
        return max(10, int(result["in_time"] / result["seconds"] * 0.8))
    finally:
        server.stop()


def relayed(bench: Bench) -> dict[str, list[dict]]:
    """Exchanges per second of relayed clients, by perfdhcp."""
    names = ["hcpnet", *bench.a.peers]
    guesses = {name: first_guess(bench, name) for name in names}
    rounds: dict[str, list[dict]] = {name: [] for name in names}
    for number in range(bench.a.rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            server = bench.server(name)
            try:
                bench.start(server)
                result = greatest_rate(bench, server, guesses[name])
                guesses[name] = int(result["rate"])
                rounds[name].append(result)
            finally:
                server.stop()
    return rounds


def direct(bench: Bench) -> dict[str, list[dict]]:
    """Exchanges per second of clients on the link itself, a window of them at a time."""
    names = ["hcpnet", *bench.a.peers]
    rounds: dict[str, list[dict]] = {name: [] for name in names}
    for number in range(bench.a.rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            server = bench.server(name)
            try:
                bench.start(server)
                window = {"clients": CLIENTS, "seconds": bench.a.seconds, "window": bench.a.window}
                result = measured(server, lambda options=window: bench.load(**options))
                result["rate"] = result["in_time"] / result["seconds"]
                rounds[name].append(result)
            finally:
                server.stop()
    return rounds


def print_rates(title: str, rounds: dict[str, list[dict]], has_latencies: bool) -> None:
    """A table, the fastest first."""
    print(
        f"\n### {title}\n\n| server | exchanges/s | hcpnet does so many times as many | CPU us per exchange "
        f"| of hcpnet's |{' p50 us | p99 us | lost |' if has_latencies else ''}"
    )
    print("| --- | --- | --- | --- | --- |" + (" --- | --- | --- |" if has_latencies else ""))
    ours = rounds["hcpnet"]
    for name, theirs in sorted(rounds.items(), key=lambda item: -median(r["rate"] for r in item[1])):
        pairs = list(zip(ours, theirs, strict=True))
        ratios = [our["rate"] / their["rate"] for our, their in pairs]
        costs = [their["cpu_us"] / our["cpu_us"] for our, their in pairs]
        line = (
            f"| {name} | {spread([r['rate'] for r in theirs])} | "
            f"{'' if name == 'hcpnet' else spread(ratios, '{:.2f}')} | {spread([r['cpu_us'] for r in theirs])} | "
            f"{'' if name == 'hcpnet' else spread(costs, '{:.2f}')} |"
        )
        if has_latencies:
            line += (
                f" {spread([r['p50_us'] for r in theirs])} | {spread([r['p99_us'] for r in theirs])} | "
                f"{sum(r['lost'] for r in theirs)} |"
            )
        print(line)
    sys.stdout.flush()


# --- what else is asked


def latencies(bench: Bench, rounds: dict[str, list[dict]]) -> None:
    """Each at half of what it can do on the link."""
    names = [name for name in ("hcpnet", "kea") if name in rounds]
    found: dict[str, list[dict]] = {name: [] for name in names}
    for _ in range(bench.a.rounds):
        for name in names:
            server = bench.server(name)
            try:
                bench.start(server)
                rate = median(r["rate"] for r in rounds[name]) / 2
                found[name].append(bench.load(clients=CLIENTS, seconds=bench.a.seconds, rate=rate) | {"rate": rate})
            finally:
                server.stop()
    print("\n### Latency of an exchange at half load, on the link\n")
    print("| server | exchanges/s | p50 us | p99 us | REQUEST to ACK, p99 us | lost |\n" + "| --- " * 6 + "|")
    for name, results in found.items():
        print(
            f"| {name} | {results[0]['rate']:,.0f} | {spread([r['p50_us'] for r in results])} | "
            f"{spread([r['p99_us'] for r in results])} | {spread([r['ack_p99_us'] for r in results])} | "
            f"{sum(r['lost'] for r in results)} |"
        )
    sys.stdout.flush()


def memory(bench: Bench) -> None:
    """Resident, before the first client but one and with 60,000 leases."""
    print(f"\n### Memory with {MANY_LEASES:,} leases (resident)\n")
    print("| server | empty, MB | with the leases, MB | more, MB |\n| --- | --- | --- | --- |")
    for name in ["hcpnet", *(peer for peer in bench.a.peers if peer == "kea")]:
        empty, full = [], []
        for _ in range(bench.a.rounds):
            server = bench.server(name)
            try:
                bench.start(server)
                empty.append(server.memory_mb())
                result = bench.load(clients=MANY_LEASES, once=1, window=64)
                if result["exchanges"] < 0.999 * MANY_LEASES:
                    raise RuntimeError(f"{name}: {result}")
                full.append(server.memory_mb())
            finally:
                server.stop()
        more = [b - a for a, b in zip(empty, full, strict=True)]
        print(f"| {name} | {spread(empty, '{:.1f}')} | {spread(full, '{:.1f}')} | {spread(more, '{:.1f}')} |")
    sys.stdout.flush()


def pools(bench: Bench) -> None:
    """A huge pool and one that is nearly full, beside one that is neither."""
    found: dict[str, list[dict]] = {}
    # Of its 50,250 addresses 50,000 are taken before it counts; then their clients ask again, and 200 new ones.
    nearly_full = Network(16, "10.9.1.0", "10.9.197.73")
    for _ in range(bench.a.rounds):
        for title, network in (("/16", SMALL), ("/8", HUGE), ("/16, 99.5 % taken", nearly_full)):
            server = bench.server("hcpnet", network)
            try:
                bench.start(server)
                bench.load(clients=CLIENTS, once=1, window=64)
                options = {"clients": CLIENTS + 200, "seconds": bench.a.seconds, "window": bench.a.window}
                result = measured(server, lambda options=options: bench.load(**options))
                result["rate"] = result["in_time"] / result["seconds"]
                found.setdefault(title, []).append(result)
            finally:
                server.stop()
    print("\n### Pools, hcpnet\n")
    print("| pool | exchanges/s | of those of /16 | CPU us per exchange |\n" + "| --- " * 4 + "|")
    plain = found["/16"]
    for title, results in found.items():
        ratios = [mine["rate"] / its["rate"] for mine, its in zip(results, plain, strict=True)]
        print(
            f"| {title} | {spread([r['rate'] for r in results])} | {spread(ratios, '{:.2f}')} | "
            f"{spread([r['cpu_us'] for r in results])} |"
        )
    sys.stdout.flush()


def restart(bench: Bench) -> None:
    """From the start of the program to the first answer, with a million leases in the database."""
    server = bench.server("hcpnet", HUGE)
    header = "address,mac,client_id,duid,iaid,host_name,state,started,expires,subnet,line\n"
    first = 10 << 24 | 9 << 16 | 1 << 8
    leases = server.folder / "leases.csv"
    with leases.open("w") as out:
        out.write(header)
        for number in range(RESTORED_LEASES):
            address = ".".join(str((first + number) >> shift & 255) for shift in (24, 16, 8, 0))
            mac = ":".join(f"{byte:02x}" for byte in (2, 1, *number.to_bytes(4, "big")))
            out.write(f"{address},{mac},,,,,bound,2026-01-01T00:00:00Z,2100-01-01T00:00:00Z,bench/bench,\n")
    state = str(server.folder / "state")
    words = ["leases", "import", str(leases), server.command[-1], "--format", "hcpnet", "--state-dir", state]
    subprocess.run([bench.a.hcpnet, *words], check=True, stdout=subprocess.DEVNULL)
    seconds, used = [], []
    for _ in range(bench.a.rounds):
        try:
            seconds.append(bench.start(server))
            used.append(server.memory_mb())
        finally:
            server.stop()
    print(f"\n### Restart with {RESTORED_LEASES:,} leases, hcpnet\n")
    print("| to the first answer, s | resident, MB |\n| --- | --- |")
    print(f"| {spread(seconds, '{:.2f}')} | {spread(used)} |")
    sys.stdout.flush()


def make_network(clients: int) -> None:
    """This namespace has the servers' end, that of the process `clients` the other."""
    run = ["ip", "link", "add", SERVER_INTERFACE, "type", "veth", "peer", "name", CLIENT_INTERFACE]
    subprocess.run([*run, "netns", str(clients)], check=True)
    inside = ["nsenter", f"--net=/proc/{clients}/ns/net"]
    for where, interface, address in (
        ([], SERVER_INTERFACE, SERVER_ADDRESS),
        (inside, CLIENT_INTERFACE, CLIENT_ADDRESS),
    ):
        subprocess.run([*where, "ip", "link", "set", "lo", "up"], check=True)
        subprocess.run([*where, "ip", "address", "add", f"{address}/16", "dev", interface], check=True)
        subprocess.run([*where, "ip", "link", "set", interface, "up"], check=True)


def main() -> None:
    """Measures the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench dhcp", description=__doc__)
    parser.add_argument("--build", default="build/release", help="folder of the programs")
    parser.add_argument("--seconds", type=int, default=2, help="length of each run")
    parser.add_argument("--rounds", type=int, default=5, help="alternations")
    parser.add_argument("--window", type=int, default=64, help="exchanges under way at once, on the link")
    parser.add_argument(
        "--peers",
        type=lambda text: [p for p in text.split(",") if p],
        default=PEERS,
        help="comma separated: " + ", ".join(PEERS),
    )
    parser.add_argument(
        "--parts",
        default="relayed,direct,memory,pools,restart",
        help="comma separated; direct also measures latencies at half of its rates",
    )
    a = parser.parse_args()
    if os.environ.get("HCPNET_BENCH_NAMESPACE") != "1":
        os.environ["HCPNET_BENCH_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    a.hcpnet = os.path.abspath(f"{a.build}/apps/hcpnet/hcpnet")
    a.load = os.path.abspath(f"{a.build}/bench/dhcp_load")
    # Reads until this program ends, however it does; its namespace ends with it.
    holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE)
    try:
        while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            pass
        make_network(holder.pid)
        with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as folder:
            bench = Bench(a, Path(folder), holder.pid)
            for part in a.parts.split(","):
                if part == "relayed":
                    print_rates("Relayed clients (perfdhcp), without drops", relayed(bench), False)
                elif part == "direct":
                    rounds = direct(bench)
                    print_rates(f"Clients on the link, {a.window} exchanges under way", rounds, True)
                    latencies(bench, rounds)
                else:
                    {"memory": memory, "pools": pools, "restart": restart}[part](bench)
    finally:
        holder.kill()
        holder.wait()


if __name__ == "__main__":
    main()
