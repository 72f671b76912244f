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
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))
from proxy_peers import BACKEND_PORT, Proxy, make_proxies

PEERS = ["floor", "haproxy", "haproxy-62k", "haproxy-splice", "nginx", "nginx-62k", "sniproxy"]
PARTS = ["conn517", "connpq", "bulk1", "bulk8", "bulk64", "latency1", "latency100", "idle", "start"]
Rounds = dict[str, list[dict]]


def spread(values: list[float], form: str = "{:.0f}") -> str:
    """The median of the values with their smallest and largest, as text for a cell."""
    return f"{form.format(median(values))} ({form.format(min(values))} to {form.format(max(values))})"


def command_of(a: argparse.Namespace, proxy: Proxy, mode: str, count: int, hello: int) -> list[str]:
    """The command that runs the load generator against `proxy`, pinned to core 1."""
    return [
        "taskset",
        "-c",
        "1",
        f"{a.build}/bench/proxy_load",
        mode,
        str(proxy.port),
        str(BACKEND_PORT),
        str(a.seconds),
        str(count),
        str(hello),
        str(a.names),
    ]


def measure(a: argparse.Namespace, proxy: Proxy, mode: str, count: int, hello: int) -> dict:
    """Runs the load generator once and returns its report with the CPU seconds of the proxy added.

    CPU is that of the proxy from the end of the generator's warm-up to its report.
    """
    with subprocess.Popen(command_of(a, proxy, mode, count, hello), stdout=subprocess.PIPE, text=True) as load:
        load.stdout.readline()
        before = proxy.cpu_seconds()
        result = json.loads(load.stdout.readline())
        result["cpu"] = proxy.cpu_seconds() - before
    return result


def alternate(a: argparse.Namespace, proxies: list[Proxy], mode: str, count: int, hello: int = 517) -> Rounds:
    """Measures every proxy once per round; each round begins with the next proxy, so that none is always first."""
    rounds: Rounds = {proxy.name: [] for proxy in proxies}
    for number in range(a.rounds):
        turn = number % len(proxies)
        for proxy in proxies[turn:] + proxies[:turn]:
            rounds[proxy.name].append(measure(a, proxy, mode, count, hello))
    return rounds


def table(
    title: str,
    rounds: Rounds,
    columns: list[tuple[str, str, Callable[[dict], float]]],
    best_first: Callable[[list[dict]], float],
) -> None:
    """Prints one table, its rows sorted by `best_first` of their rounds.

    `columns`: heading, format, value of a round; the first two also get a column with hcpnet's value divided by that of
    the row.
    """
    print(
        f"\n### {title}\n\n| proxy | {' | '.join(h for h, _, _ in columns)} "
        f"| hcpnet : it, {columns[0][0]} | hcpnet : it, {columns[1][0]} | errors |"
    )
    print("| --- " * (len(columns) + 4) + "|")
    ours = rounds["hcpnet"]
    for name, theirs in sorted(rounds.items(), key=lambda item: best_first(item[1])):
        cells = [spread([value(r) for r in theirs], form) for _, form, value in columns]
        ratios = [
            spread([value(our) / (value(their) or 1e-9) for our, their in zip(ours, theirs, strict=True)], "{:.2f}")
            if name != "hcpnet"
            else ""
            for _, _, value in columns[:2]
        ]
        print(f"| {name} | {' | '.join(cells + ratios)} | {sum(r['errors'] for r in theirs)} |")
    sys.stdout.flush()


def connections(a: argparse.Namespace, proxies: list[Proxy], part: str) -> None:
    """Compares new connections per second and the CPU time of each, for the size of hello that `part` names."""
    hello = {"conn517": 517, "connpq": 1631}[part]
    columns = [
        ("conns/s", "{:.0f}", lambda r: r["connections"] / r["seconds"]),
        ("CPU us per connection", "{:.1f}", lambda r: r["cpu"] / max(1, r["connections"]) * 1e6),
    ]
    rounds = alternate(a, proxies, "conn", 64, hello)
    table(
        f"New connections, hello of {hello} bytes, {a.names:,} names",
        rounds,
        columns,
        lambda rs: median(columns[1][2](r) for r in rs),
    )


def bulk(a: argparse.Namespace, proxies: list[Proxy], part: str) -> None:
    """Compares throughput and CPU time per GB, for the number of streams that `part` names."""
    streams = int(part.removeprefix("bulk"))
    columns = [
        ("Gbit/s", "{:.1f}", lambda r: r["bytes"] * 8 / r["seconds"] / 1e9),
        ("CPU ms per GB", "{:.0f}", lambda r: r["cpu"] * 1000 / (max(1, r["bytes"]) / 1e9)),
    ]
    table(
        f"Bulk, {streams} streams",
        alternate(a, proxies, "bulk", streams),
        columns,
        lambda rs: -median(columns[0][2](r) for r in rs),
    )


def latency(a: argparse.Namespace, proxies: list[Proxy], part: str) -> None:
    """Compares latency, for the number of tunnels that `part` names."""
    count = int(part.removeprefix("latency"))
    columns = [("p50 us", "{:.0f}", lambda r: r["p50_us"]), ("p99 us", "{:.0f}", lambda r: r["p99_us"])]
    table(
        f"Latency, {count} tunnels",
        alternate(a, proxies, "latency", count),
        columns,
        lambda rs: median(r["p50_us"] for r in rs),
    )


def idle(a: argparse.Namespace, folder: Path) -> None:
    """Compares the memory that idle tunnels take; the proxies run one after the other."""
    print(f"\n### Idle tunnels, {a.tunnels:,} open\n\n| proxy | private bytes per tunnel |\n| --- | --- |")
    for proxy in make_proxies(a.build, folder, a.names, a.workers, ["hcpnet", *a.peers]):
        try:
            proxy.start(a.cores)
            before = proxy.memory_bytes()
            with subprocess.Popen(
                command_of(a, proxy, "idle", a.tunnels, 517), stdout=subprocess.PIPE, text=True
            ) as load:
                opened = json.loads(load.stdout.readline())
                after = proxy.memory_bytes()
                load.terminate()
            note = "" if opened["errors"] == 0 else " (not all opened)"
            print(f"| {proxy.name} | {(after - before) / a.tunnels:,.0f}{note} |")
        finally:
            proxy.stop()
    sys.stdout.flush()


def starts(a: argparse.Namespace, folder: Path) -> None:
    """Compares the time to start with 100,000 names and the memory after it, without floor and sniproxy."""
    print(
        "\n### Start with 100,000 names: seconds until it accepts, and memory\n\n"
        "| proxy | s | MB |\n| --- | --- | --- |"
    )
    for proxy in make_proxies(
        a.build, folder, 100_000, a.workers, ["hcpnet", *(p for p in a.peers if p not in ("floor", "sniproxy"))]
    ):
        seconds, memory = [], 0
        for _ in range(a.rounds):
            try:
                seconds.append(proxy.start(a.cores))
                memory = proxy.memory_bytes()
            finally:
                proxy.stop()
        print(f"| {proxy.name} | {spread(seconds, '{:.3f}')} | {memory / 1e6:.1f} |")
    sys.stdout.flush()


def run_alternated(a: argparse.Namespace, folder: Path, parts: list[str]) -> None:
    """Starts all proxies, runs the parts that ask them in turn, and stops them."""
    proxies = make_proxies(a.build, folder, a.names, a.workers, ["hcpnet", *a.peers])
    try:
        for proxy in proxies:
            proxy.start(a.cores)
        for part in parts:
            {"conn": connections, "bulk": bulk, "late": latency}[part[:4]](a, proxies, part)
    finally:
        for proxy in proxies:
            proxy.stop()


def main() -> None:
    """Reads the arguments, moves into a network namespace of its own, and runs the parts asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench proxy", description=__doc__)
    parser.add_argument("--build", default="build/release", help="folder of the programs")
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
    if os.environ.get("HCPNET_BENCH_NAMESPACE") != "1":
        os.environ["HCPNET_BENCH_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for key, value in {"ip_local_port_range": "1024 65535", "tcp_max_tw_buckets": "32768"}.items():
        Path(f"/proc/sys/net/ipv4/{key}").write_text(value)
    Path("/proc/sys/net/core/somaxconn").write_text("16384")
    a.build = os.path.abspath(a.build)
    a.cores = "0" if a.workers == 1 else f"0-{os.cpu_count() - 1}"
    with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # some give up root before they read it
        run_alternated(a, folder, [p for p in a.parts if p not in ("idle", "start")])
        if "idle" in a.parts:
            idle(a, folder)
        if "start" in a.parts:
            starts(a, folder)


if __name__ == "__main__":
    main()
