# SPDX-License-Identifier: Apache-2.0
"""Which targets a run of scripts/bench proxy met: a table as Markdown.

A ratio is met when its median over the rounds meets it. "No worse" and "at least as good" are met within the spread of
the run too, which is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

Rounds = dict[str, list[dict]]
Value = Callable[[dict], float]

LEAST_TIMES_HAPROXY = {"bulk1": 1.2, "bulk8": 1.8, "bulk64": 2.4}
FLOORS = {"direct", "floor"}  # which are no peers


def peers_of(rounds: Rounds) -> list[str]:
    """Who has to be matched."""
    return [name for name in rounds if name != "hcpnet" and name not in FLOORS]


def spread(values: list[float], form: str = "{:.0f}") -> str:
    """The median of the values with their smallest and largest, as text for a cell."""
    return f"{form.format(median(values))} ({form.format(min(values))} to {form.format(max(values))})"


def ratios(rounds: Rounds, peer: str, value: Value) -> list[float]:
    """Ours divided by the peer's, round by round."""
    return [value(our) / (value(their) or 1e-9) for our, their in zip(rounds["hcpnet"], rounds[peer], strict=True)]


def best_peer(rounds: Rounds, value: Value, is_more_better: bool) -> str:
    """The peer that is hardest to match."""
    middle = {peer: median(ratios(rounds, peer, value)) for peer in peers_of(rounds)}
    return min(middle, key=lambda peer: middle[peer] if is_more_better else -middle[peer])


class Verdicts:
    """The lines of the table."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, target: str, result: str, met: str) -> None:
        """One line."""
        self.lines.append(f"| {target} | {result} | {met} |")

    def at_most(self, target: str, rounds: Rounds, peer: str, value: Value, limit: float) -> None:
        """Our value is at most `limit` times that of the peer."""
        if peer not in rounds:
            return
        found = ratios(rounds, peer, value)
        self.add(target, f"{spread(found, '{:.2f}')} of {peer}", "yes" if median(found) <= limit else "**no**")

    def at_least(self, target: str, rounds: Rounds, peer: str, value: Value, limit: float) -> None:
        """Our value is at least `limit` times that of the peer."""
        if peer not in rounds:
            return
        found = ratios(rounds, peer, value)
        self.add(target, f"{spread(found, '{:.2f}')} times {peer}", "yes" if median(found) >= limit else "**no**")

    def no_worse(self, target: str, rounds: Rounds, value: Value, is_more_better: bool, peer: str = "") -> None:
        """Our value is as good as the peer's, the best one's if none is named, or the run does not tell them apart."""
        if not peers_of(rounds):
            return
        peer = peer or best_peer(rounds, value, is_more_better)
        found = ratios(rounds, peer, value)
        is_met = median(found) >= 1 if is_more_better else median(found) <= 1
        is_within = max(found) >= 1 if is_more_better else min(found) <= 1
        self.add(
            target,
            f"{spread(found, '{:.2f}')} of {peer}",
            "yes" if is_met else "within the spread" if is_within else "**no**",
        )


def cpu_per_connection(r: dict) -> float:
    """Microseconds."""
    return r["cpu"] / max(1, r["connections"]) * 1e6


def rate(r: dict) -> float:
    """Gbit/s."""
    return r["bytes"] * 8 / r["seconds"] / 1e9


def cpu_per_gb(r: dict) -> float:
    """Milliseconds."""
    return r["cpu"] * 1000 / (max(1, r["bytes"]) / 1e9)


def judge(found: dict[str, Rounds], idle: dict[str, float], starts: dict[str, list[float]]) -> list[str]:
    """The lines about what was measured; `idle` in bytes, `starts` in seconds, both by proxy."""
    v = Verdicts()
    for part, rounds in found.items():
        if part.startswith("conn"):
            if peers_of(rounds):
                peer = best_peer(rounds, cpu_per_connection, is_more_better=False)
                v.at_most(f"{part}: CPU not above the best tuned peer's", rounds, peer, cpu_per_connection, 1.0)
            v.at_most(f"{part}: CPU at most 1.15 times the floor's", rounds, "floor", cpu_per_connection, 1.15)
            v.at_most(f"{part}: a third of Envoy's", rounds, "envoy", cpu_per_connection, 1 / 3)
        elif part.startswith("bulk"):
            v.no_worse(f"{part}: Gbit/s at least as good", rounds, rate, is_more_better=True)
            v.no_worse(f"{part}: CPU per GB at least as good", rounds, cpu_per_gb, is_more_better=False)
            least = LEAST_TIMES_HAPROXY[part]
            v.at_least(f"{part}: {least} times HAProxy as shipped", rounds, "haproxy", rate, least)
        elif part.startswith("latency"):
            for key in ("p50_us", "p99_us"):
                v.no_worse(f"{part}: {key[:3]} no worse", rounds, lambda r, key=key: r[key], is_more_better=False)
        elif part == "names":
            few = "hcpnet, 20 names"
            v.no_worse("100,000 names: CPU per connection as with 20", rounds, cpu_per_connection, False, few)
    if "hcpnet" in idle:
        v.add("at most 1 KiB for an idle tunnel", f"{idle['hcpnet']:,.0f} bytes", yes_or_no(idle["hcpnet"] <= 1024))
    if "hcpnet" in idle and "haproxy" in idle:
        part_of = idle["hcpnet"] / idle["haproxy"]
        v.add("a third of HAProxy's for an idle tunnel", f"{part_of:.2f} of it", yes_or_no(part_of <= 1 / 3))
    if "hcpnet" in starts:
        seconds = starts["hcpnet"]
        measured = f"{spread(seconds, '{:.3f}')} s"
        v.add("start under 0.1 s with 100,000 names", measured, yes_or_no(median(seconds) < 0.1))
    return v.lines


def yes_or_no(is_met: bool) -> str:
    """For the last column."""
    return "yes" if is_met else "**no**"
