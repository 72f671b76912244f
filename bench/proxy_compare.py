# SPDX-License-Identifier: Apache-2.0
"""Compares hcpnet's proxy with others on this machine and prints tables as Markdown; run by scripts/bench proxy.

Everything happens in a network namespace of its own, which ends with this program. Proxies run on core 0, clients and
backend on core 1. All are up at once and asked in turn, so that what the machine does meanwhile meets all alike; a
figure is the median of its rounds, a ratio the median of the ratios inside each round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))
from proxy_peers import BACKEND_PORT, Proxy, Setup, make_proxies
from proxy_reload import Marker, reload_seconds
from proxy_targets import Rounds, cpu_per_connection, cpu_per_gb, judge, rate, ratios, spread

PEERS = [
    *("direct", "floor", "haproxy", "haproxy-62k", "haproxy-splice", "haproxy-busy"),
    *("nginx", "nginx-62k", "sniproxy", "envoy"),
]
PARTS = [
    *("conn517", "connpq", "bulk1", "bulk8", "bulk64", "latency1", "latency100"),
    *("idle", "start", "reload", "names", "workers2"),
]
ONE_WORKER = {"direct", "floor", "sniproxy"}
APART = "haproxy-busy"  # it never sleeps, and leaves its core to nobody
AS_SHIPPED = {"haproxy", "nginx", "envoy"}  # what tuned forms of a peer have in common needs no second row
MANY_NAMES = 100_000
Column = tuple[str, str, Callable[[dict], float]]


@dataclass
class Bench:
    """What was asked for, and what is found."""

    seconds: float
    rounds: int
    tunnels: int
    peers: list[str]
    cores: int
    setup: Setup

    def command(self, proxy: Proxy, mode: str, count: int, hello: int) -> list[str]:
        """The command that runs the load generator against `proxy`, pinned to core 1."""
        words = ["taskset", "-c", "1", f"{self.setup.build}/bench/proxy_load", mode]
        return words + [str(n) for n in (proxy.port, BACKEND_PORT, self.seconds, count, hello, proxy.names)]

    def cores_of(self, setup: Setup) -> str:
        """One worker has core 0, several have all."""
        return "0" if setup.workers == 1 else f"0-{self.cores - 1}"


@contextmanager
def running(b: Bench, setup: Setup, proxies: list[Proxy]) -> Iterator[list[Proxy]]:
    """All of them at once."""
    try:
        for proxy in proxies:
            proxy.start(b.cores_of(setup))
        yield proxies
    finally:
        for proxy in proxies:
            proxy.stop()


def measure(b: Bench, proxy: Proxy, mode: str, count: int, hello: int) -> dict:
    """Runs the load generator once and returns its report with the CPU seconds of the proxy added.

    CPU is that of the proxy from the end of the generator's warm-up to its report.
    """
    with subprocess.Popen(b.command(proxy, mode, count, hello), stdout=subprocess.PIPE, text=True) as load:
        load.stdout.readline()
        before = proxy.cpu_seconds()
        result = json.loads(load.stdout.readline())
        result["cpu"] = proxy.cpu_seconds() - before
    return result


def alternate(b: Bench, proxies: list[Proxy], mode: str, count: int, hello: int = 517) -> Rounds:
    """Measures every proxy once per round; each round begins with the next proxy, so that none is always first."""
    rounds: Rounds = {proxy.name: [] for proxy in proxies}
    for number in range(b.rounds):
        turn = number % len(proxies)
        for proxy in proxies[turn:] + proxies[:turn]:
            rounds[proxy.name].append(measure(b, proxy, mode, count, hello))
    return rounds


def table(title: str, rounds: Rounds, columns: list[Column], best_first: Callable[[list[dict]], float]) -> None:
    """Prints one table, its rows sorted by `best_first` of their rounds.

    `columns`: heading, format, value of a round; the first two also get a column with hcpnet's value divided by that of
    the row.
    """
    print(
        f"\n### {title}\n\n| proxy | {' | '.join(h for h, _, _ in columns)} "
        f"| hcpnet : it, {columns[0][0]} | hcpnet : it, {columns[1][0]} | errors |"
    )
    print("| --- " * (len(columns) + 4) + "|")
    for name, theirs in sorted(rounds.items(), key=lambda item: best_first(item[1])):
        cells = [spread([value(r) for r in theirs], form) for _, form, value in columns]
        compared = [
            spread(ratios(rounds, name, value), "{:.2f}") if name != "hcpnet" and any(map(value, theirs)) else ""
            for _, _, value in columns[:2]
        ]
        print(f"| {name} | {' | '.join(cells + compared)} | {sum(r['errors'] for r in theirs)} |")
    sys.stdout.flush()


CONNECTION_COLUMNS: list[Column] = [
    ("conns/s", "{:.0f}", lambda r: r["connections"] / r["seconds"]),
    ("CPU us per connection", "{:.1f}", cpu_per_connection),
]
BULK_COLUMNS: list[Column] = [("Gbit/s", "{:.1f}", rate), ("CPU ms per GB", "{:.0f}", cpu_per_gb)]
LATENCY_COLUMNS: list[Column] = [
    ("p50 us", "{:.0f}", lambda r: r["p50_us"]),
    ("p99 us", "{:.0f}", lambda r: r["p99_us"]),
]


def load_of(part: str) -> tuple[str, int, int]:
    """What a part asks of the load generator: its mode, how many, and the size of the hello."""
    if part.startswith("conn"):
        return "conn", 64, {"conn517": 517, "connpq": 1631}[part]
    mode = part.rstrip("0123456789")
    return mode, int(part.removeprefix(mode)), 517


def connection_table(title: str, rounds: Rounds) -> Rounds:
    """New connections, the cheapest first."""
    table(title, rounds, CONNECTION_COLUMNS, lambda rs: median(cpu_per_connection(r) for r in rs))
    return rounds


def connections(b: Bench, proxies: list[Proxy], part: str, where: str) -> Rounds:
    """Compares new connections per second and the CPU time of each, for the size of hello that `part` names."""
    _, _, hello = load_of(part)
    rounds = alternate(b, proxies, *load_of(part))
    return connection_table(f"{where}New connections, hello of {hello} bytes, {proxies[0].names:,} names", rounds)


def bulk(b: Bench, proxies: list[Proxy], part: str, where: str) -> Rounds:
    """Compares throughput and CPU time per GB, for the number of streams that `part` names."""
    _, streams, _ = load_of(part)
    rounds = alternate(b, proxies, *load_of(part))
    table(f"{where}Bulk, {streams} streams", rounds, BULK_COLUMNS, lambda rs: -median(rate(r) for r in rs))
    return rounds


def latency(b: Bench, proxies: list[Proxy], part: str, where: str) -> Rounds:
    """Compares latency, for the number of tunnels that `part` names."""
    _, count, _ = load_of(part)
    rounds = alternate(b, proxies, *load_of(part))
    table(f"{where}Latency, {count} tunnels", rounds, LATENCY_COLUMNS, lambda rs: median(r["p50_us"] for r in rs))
    return rounds


def run_parts(b: Bench, setup: Setup, parts: list[str], where: str = "") -> dict[str, Rounds]:
    """The parts that ask all proxies in turn, with proxies of their own."""
    if not parts:
        return {}
    wanted = ["hcpnet", *(p for p in b.peers if p != APART and (setup.workers == 1 or p not in ONE_WORKER))]
    kinds = {"conn": connections, "bulk": bulk, "latency": latency}
    with running(b, setup, make_proxies(setup, wanted)) as proxies:
        found = {part: kinds[load_of(part)[0]](b, proxies, part, where) for part in parts}
    if APART in b.peers and setup.workers == 1:
        by_itself(b, setup, parts, where)
    return found


def by_itself(b: Bench, setup: Setup, parts: list[str], where: str) -> None:
    """Reports what HAProxy reaches that never sleeps, beside nobody: nothing is compared with it."""
    columns = {"conn": CONNECTION_COLUMNS, "bulk": BULK_COLUMNS, "latency": LATENCY_COLUMNS}
    print(f"\n### {where}{APART}, by itself\n\n| part | | | errors |\n| --- | --- | --- | --- |")
    with running(b, setup, make_proxies(setup, [APART])) as proxies:
        for part in parts:
            rs = alternate(b, proxies, *load_of(part))[APART]
            cells = [
                f"{spread([value(r) for r in rs], form)} {heading}"
                for heading, form, value in columns[load_of(part)[0]]
            ]
            print(f"| {part} | {' | '.join(cells)} | {sum(r['errors'] for r in rs)} |")
    sys.stdout.flush()


def idle(b: Bench) -> dict[str, float]:
    """Compares the memory that idle tunnels take; the proxies run one after the other."""
    print(f"\n### Idle tunnels, {b.tunnels:,} open\n\n| proxy | private bytes per tunnel |\n| --- | --- |")
    found = {}
    for proxy in make_proxies(b.setup, ["hcpnet", *(p for p in b.peers if p not in ("direct", APART))]):
        with running(b, b.setup, [proxy]):
            before = proxy.memory_bytes()
            with subprocess.Popen(b.command(proxy, "idle", b.tunnels, 517), stdout=subprocess.PIPE, text=True) as load:
                opened = json.loads(load.stdout.readline())
                after = proxy.memory_bytes()
                load.terminate()
        note = "" if opened["errors"] == 0 else " (not all opened)"
        print(f"| {proxy.name} | {(after - before) / b.tunnels:,.0f}{note} |")
        if not note:
            found[proxy.name] = (after - before) / b.tunnels
    sys.stdout.flush()
    return found


def starts(b: Bench) -> dict[str, list[float]]:
    """Compares the time to start with many names and the memory after it."""
    print(
        f"\n### Start with {MANY_NAMES:,} names: seconds until it accepts, and memory\n\n"
        "| proxy | s | MB |\n| --- | --- | --- |"
    )
    setup = replace(b.setup, names=MANY_NAMES)
    found: dict[str, list[float]] = {}
    for proxy in make_proxies(setup, ["hcpnet", *(p for p in b.peers if p in AS_SHIPPED)]):
        memory = 0
        for _ in range(b.rounds):
            try:
                found.setdefault(proxy.name, []).append(proxy.start(b.cores_of(setup)))
                memory = proxy.memory_bytes()
            finally:
                proxy.stop()
        print(f"| {proxy.name} | {spread(found[proxy.name], '{:.3f}')} | {memory / 1e6:.1f} |")
    sys.stdout.flush()
    return found


def reloads(b: Bench) -> None:
    """Compares the time from asking for a reload to the first connection that follows it."""
    print(
        "\n### Reload: ms until a new connection follows it, and connections that failed meanwhile\n\n"
        f"| proxy | 20 names: ms | failed | {MANY_NAMES:,} names: ms | failed |\n| --- | --- | --- | --- | --- |"
    )
    cells: dict[str, list[str]] = {}
    with Marker() as marker:
        for setup in (b.setup, replace(b.setup, names=MANY_NAMES)):
            for proxy in make_proxies(setup, ["hcpnet", *(p for p in b.peers if p in AS_SHIPPED)], marker.ports[0]):
                with running(b, setup, [proxy]):
                    seconds, failed = reload_seconds(proxy, marker, b.rounds)
                cells.setdefault(proxy.name, []).extend([spread([s * 1000 for s in seconds], "{:.1f}"), str(failed)])
    for name, row in cells.items():
        print(f"| {name} | {' | '.join(row)} |")
    sys.stdout.flush()


def many_names(b: Bench) -> Rounds:
    """Compares new connections where many names are routed with those of ours where few are."""
    few, many = replace(b.setup, folder=b.setup.folder / "few"), replace(b.setup, names=MANY_NAMES, first_port=6100)
    few.folder.mkdir(exist_ok=True)
    (ours,) = make_proxies(few, ["hcpnet"])
    ours.name = "hcpnet, 20 names"
    others = make_proxies(many, ["hcpnet", *(p for p in b.peers if p in AS_SHIPPED)])
    with running(b, many, [*others, ours]) as proxies:
        rounds = alternate(b, proxies, "conn", 64)
    return connection_table(f"New connections, {MANY_NAMES:,} names", rounds)


def run(b: Bench, parts: list[str]) -> None:
    """All parts that were asked for, and what they say of the targets."""
    apart = ("idle", "start", "reload", "names", "workers2")
    found = run_parts(b, b.setup, [p for p in parts if p not in apart])
    tunnels = idle(b) if "idle" in parts else {}
    seconds = starts(b) if "start" in parts else {}
    if "reload" in parts:
        reloads(b)
    if "names" in parts:
        found["names"] = many_names(b)
    if "workers2" in parts:
        two = replace(b.setup, workers=2)
        run_parts(b, two, ["conn517", "bulk8", "bulk64", "latency100"], "Two workers each, on all cores: ")
    print("\n### Targets\n\n| target | result | met |\n| --- | --- | --- |")
    print("\n".join(judge(found, tunnels, seconds)))


def main() -> None:
    """Reads the arguments, moves into a network namespace of its own, and runs the parts asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench proxy", description=__doc__)
    parser.add_argument("--build", default="build/release", help="folder of the programs")
    parser.add_argument("--envoy", default="envoy", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=2, help="length of each run")
    parser.add_argument("--rounds", type=int, default=5, help="alternations")
    parser.add_argument(
        "--workers", type=int, default=1, help="of each proxy; with more than one they run on all cores"
    )
    parser.add_argument("--names", type=int, default=20, help="that are routed")
    parser.add_argument("--tunnels", type=int, default=9000, help="of the part idle")
    parser.add_argument(
        "--peers",
        type=lambda text: [p for p in text.split(",") if p],
        default=PEERS,
        help="comma separated: " + ", ".join(PEERS),
    )
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), default=PARTS, help="comma separated: " + ", ".join(PARTS)
    )
    a = parser.parse_args()
    for given, known in ((a.parts, PARTS), (a.peers, PEERS)):
        if unknown := set(given) - set(known):
            parser.error(f"{', '.join(sorted(unknown))}: not among {', '.join(known)}")
    if os.environ.get("HCPNET_BENCH_NAMESPACE") != "1":
        os.environ["HCPNET_BENCH_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for key, value in {"ip_local_port_range": "1024 65535", "tcp_max_tw_buckets": "32768"}.items():
        Path(f"/proc/sys/net/ipv4/{key}").write_text(value)
    Path("/proc/sys/net/core/somaxconn").write_text("16384")
    with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # some give up root before they read it
        setup = Setup(os.path.abspath(a.build), a.envoy, folder, a.names, a.workers)
        run(Bench(a.seconds, a.rounds, a.tunnels, a.peers, os.cpu_count() or 1, setup), a.parts)


if __name__ == "__main__":
    main()
