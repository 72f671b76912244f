# SPDX-License-Identifier: Apache-2.0
"""Compares hcpnet's DNS server with others on this machine and prints tables as Markdown; run by scripts/bench dns.

Everything happens in a network namespace of its own, which ends with this program. Servers run on core 0, the
generator on core 1. All servers of a set are up at once and asked in turn, so that what the machine does meanwhile
meets all alike; a figure is the median of its rounds, a ratio the median of the ratios inside each round.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))
from dns_peers import Server, Tools, make_forwarders, make_servers, name_of

PEERS = ["knot", "nsd", "unbound", "bind", "dnsmasq", "coredns hosts", "coredns file"]
WINDOW = 192  # queries that are outstanding at once
FAST = ["hcpnet", "knot", "nsd", "unbound"]
UPS = ["hcpnet up", "hcpnet up, zone file"]  # the command, where the others are a program for one zone
DNSPERF_RATE = 20000  # queries/s, which all keep up with


def load(a: argparse.Namespace, port: int, names: int, **options: float) -> dict:
    """One run of the generator."""
    command = ["taskset", "-c", "1", a.load, "--port", str(port), "--names", str(names), "--seconds", str(a.seconds)]
    for key, value in options.items():
        command += [f"--{key}", str(value)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(a: argparse.Namespace, server: Server, names: int, sockets: int) -> dict:
    """Rate and cost of one server in one run."""
    before = server.cpu_seconds()
    result = load(a, server.port, names, sockets=sockets)
    cpu = server.cpu_seconds() - before
    return {
        "rate": result["answered"] / result["seconds"],
        "cpu_us": cpu / max(1, result["answered"]) * 1e6,
        "wrong": result["wrong"],
    }


def alternate(a: argparse.Namespace, servers: list[Server], names: int, sockets: int = 4) -> dict[str, list[dict]]:
    """All servers in turn, round after round."""
    rounds: dict[str, list[dict]] = {server.name: [] for server in servers}
    for server in servers:  # warm; one that answers wrongly measures nothing
        result = load(a, server.port, names, sockets=sockets)
        if result["answered"] == 0 or result["wrong"] > 0:
            raise RuntimeError(f"{server.name}: {result}")
    for number in range(a.rounds):
        turn = number % len(servers)
        for server in servers[turn:] + servers[:turn]:
            rounds[server.name].append(measure(a, server, names, sockets))
    return rounds


def spread(values: list[float], form: str = "{:.0f}") -> str:
    """The median, and what it lies between."""
    return f"{form.format(median(values))} ({form.format(min(values))} to {form.format(max(values))})"


def print_rates(title: str, rounds: dict[str, list[dict]]) -> None:
    """A table, the fastest first."""
    ours = rounds["hcpnet"]
    print(
        f"\n### {title}\n\n| server | queries/s | hcpnet answers so many times as many "
        "| CPU us per query | of hcpnet's | wrong |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name, theirs in sorted(rounds.items(), key=lambda item: -median(r["rate"] for r in item[1])):
        pairs = list(zip(ours, theirs, strict=True))
        ratios = [our["rate"] / their["rate"] for our, their in pairs]
        costs = [their["cpu_us"] / our["cpu_us"] for our, their in pairs]
        print(
            f"| {name} | {spread([r['rate'] / 1000 for r in theirs], '{:.0f}k')} | "
            f"{'' if name == 'hcpnet' else spread(ratios, '{:.2f}')} | "
            f"{spread([r['cpu_us'] for r in theirs], '{:.2f}')} | "
            f"{'' if name == 'hcpnet' else spread(costs, '{:.2f}')} | {sum(r['wrong'] for r in theirs)} |"
        )
    sys.stdout.flush()


def start_all(servers: list[Server], cores: str) -> list[Server]:
    """Those that start; the others are named on standard error."""
    started = []
    for server in servers:
        try:
            server.start(cores)
            started.append(server)
        except RuntimeError as e:
            print(f"{e}", file=sys.stderr)
            server.stop()
    return started


def rates(a: argparse.Namespace, tools: Tools, names: int) -> dict[str, list[dict]]:
    """Saturated rates, latencies and the word of dnsperf for one set of names."""
    with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as folder:
        servers = make_servers(tools, Path(folder), names, a.workers, ["hcpnet", *a.peers])
        try:
            started = start_all(servers, a.cores)
            rounds = alternate(a, started, names)
            print_rates(f"{names:,} names, saturated, 4 client ports", rounds)
            print_rates(
                f"{names:,} names, saturated, {WINDOW} client ports, one query of each at a time",
                alternate(a, started, names, WINDOW),
            )
            if a.latency:
                latencies(a, [s for s in started if s.name in FAST], names, rounds)
            ask_with_dnsperf(a, Path(folder), started, names)
            return rounds
        finally:
            for server in servers:
                server.stop()


def latencies(a: argparse.Namespace, servers: list[Server], names: int, rounds: dict[str, list[dict]]) -> None:
    """All at the same rate: half of what the slowest of them can do."""
    rate = min(median(r["rate"] for r in rounds[s.name]) for s in servers) / 2
    found: dict[str, list[dict]] = {s.name: [] for s in servers}
    for _ in range(a.rounds):
        for server in servers:
            found[server.name].append(load(a, server.port, names, rate=rate))
    print(f"\n### {names:,} names, latency at {rate / 1000:.0f} thousand queries/s\n")
    print("| server | p50 us | p99 us | lost |\n| --- | --- | --- | --- |")
    for name, results in found.items():
        lost = sum(r["asked"] - r["answered"] for r in results) / sum(r["asked"] for r in results)
        print(
            f"| {name} | {spread([r['p50_us'] for r in results])} | {spread([r['p99_us'] for r in results])} "
            f"| {lost:.4%} |"
        )
    sys.stdout.flush()


def ask_with_dnsperf(a: argparse.Namespace, folder: Path, servers: list[Server], names: int) -> None:
    """An independent client's word: that every answer is NOERROR, and how long answers take at a modest rate."""
    queries = folder / "queries"
    queries.write_text("".join(f"{name_of(i)} A\n" for i in range(0, names, max(1, names // 1000))))
    command = ["taskset", "-c", "1", "dnsperf", "-s", "127.0.0.1", "-d", str(queries)]
    command += ["-l", str(max(1, round(a.seconds))), "-Q", str(DNSPERF_RATE)]
    found: dict[str, list[float]] = {server.name: [] for server in servers}
    for _ in range(a.rounds if a.latency else 1):
        for server in servers:
            out = subprocess.run([*command, "-p", str(server.port)], capture_output=True, text=True).stdout
            codes = re.search(r"Response codes:\s*(.*)", out)
            mean = re.search(r"Average Latency \(s\):\s*([0-9.]+)", out)
            if codes is None or mean is None or not codes[1].startswith("NOERROR") or "," in codes[1]:
                print(f"dnsperf on {server.name}: {codes[1] if codes else out}", file=sys.stderr)
            else:
                found[server.name].append(float(mean[1]) * 1e6)
    if a.latency:
        print(f"\n### {names:,} names, latency by dnsperf at {DNSPERF_RATE // 1000} thousand queries/s\n")
        print("| server | mean us |\n| --- | --- |")
        for name, means in found.items():
            print(f"| {name} | {spread(means) if means else '-'} |")
        sys.stdout.flush()


def starts(a: argparse.Namespace, tools: Tools) -> None:
    """Start times and memory."""
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for names in (20, 100_000):
        with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as folder:
            servers = make_servers(tools, Path(folder), names, a.workers, ["hcpnet", *UPS, *a.peers])
            for _ in range(a.rounds):
                for server in servers:
                    try:
                        seconds = server.start(a.cores)
                        found.setdefault((server.name, names), []).append(
                            (seconds, server.memory_mb("Rss"), server.memory_mb("Pss"))
                        )
                    except RuntimeError as e:
                        print(f"{e}", file=sys.stderr)
                    finally:
                        server.stop()
    print("\n### Start to the first answer, and memory (resident, all processes)\n")
    print("| server | 20 names: s | MB | 100,000 names: s | MB | MB more |\n| --- | --- | --- | --- | --- | --- |")
    for name in ["hcpnet", *UPS, *a.peers]:
        few, many = found.get((name, 20), []), found.get((name, 100_000), [])
        if few and many:
            print(
                f"| {name} | {spread([s for s, _, _ in few], '{:.3f}')} | {median(m for _, m, _ in few):.1f} | "
                f"{spread([s for s, _, _ in many], '{:.3f}')} | {median(m for _, m, _ in many):.1f} | "
                f"{median(m for _, m, _ in many) - median(m for _, m, _ in few):.1f} |"
            )
    sys.stdout.flush()


def forwarding(a: argparse.Namespace, tools: Tools) -> None:
    """Cached answers beside those of unbound."""
    names = 1000
    with tempfile.TemporaryDirectory(prefix="hcpnet-bench-") as folder:
        upstream, servers = make_forwarders(tools, Path(folder), names, a.workers)
        try:
            upstream.start("1")
            started = start_all(servers, a.cores)
            for server in started:  # every name is asked at a pace that an upstream keeps up with, until all are cached
                load(a, server.port, names, rate=10000)
            for sockets, how in (
                (4, "4 client ports"),
                (WINDOW, f"{WINDOW} client ports, one query of each at a time"),
            ):
                rounds = alternate(a, started, names, sockets)
                print_rates(f"{names:,} forwarded names, all in the cache, {how}", rounds)
        finally:
            for server in [upstream, *servers]:
                server.stop()


def main() -> None:
    """Measures the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench dns", description=__doc__)
    parser.add_argument("--build", default="build/release", help="folder of the programs")
    parser.add_argument("--coredns", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=1, help="length of each run")
    parser.add_argument("--rounds", type=int, default=5, help="alternations")
    parser.add_argument(
        "--workers", type=int, default=1, help="of each server; with more than one they run on all cores"
    )
    parser.add_argument(
        "--peers",
        type=lambda text: [p for p in text.split(",") if p],
        default=PEERS,
        help="comma separated: " + ", ".join(PEERS),
    )
    parser.add_argument(
        "--parts", default="20,100000,start,forward", help="comma separated: numbers of names, start, forward"
    )
    parser.add_argument("--no-latency", dest="latency", action="store_false", help="leave out the latencies")
    a = parser.parse_args()
    if os.environ.get("HCPNET_BENCH_NAMESPACE") != "1":
        os.environ["HCPNET_BENCH_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    a.cores = "0" if a.workers == 1 else f"0-{os.cpu_count() - 1}"
    a.load = f"{a.build}/bench/dns_load"
    tools = Tools(
        os.path.abspath(f"{a.build}/apps/hcpnet/hcpnet"), os.path.abspath(f"{a.build}/bench/dns_server"), a.coredns
    )
    for part in a.parts.split(","):
        if part == "start":
            starts(a, tools)
        elif part == "forward":
            forwarding(a, tools)
        else:
            rates(a, tools, int(part))


if __name__ == "__main__":
    main()
