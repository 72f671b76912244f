#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of the demonstration that needs no root: DNS and the proxy on loopback addresses, with dig and curl.

What is left out, because it needs network namespaces: stock DHCP clients, getent, the second view from another host.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import control_planes
from run import DOMAIN, PUBLISHED, end_on_signals, make_certificates

BASE = 10000  # the control planes listen this far above their own ports


def wait_ready(hcpnet: str, state: str, process: subprocess.Popen[bytes]) -> dict[tuple[str, str], str]:
    """The bound address of each listener, by service and configured address."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        status = subprocess.run([hcpnet, "status", "--state-dir", state, "-o", "json"], capture_output=True, text=True)
        if status.returncode == 0:
            return {(one["service"], one["configured"]): one["bound"] for one in json.loads(status.stdout)["listeners"]}
        time.sleep(0.05)
    raise SystemExit("hcpnet did not start")


def play(hcpnet: str, work: Path) -> int:
    failures = 0
    make_certificates(work, "127.81.0.4")
    here = Path(__file__).resolve().parent
    network = work / "network.yaml"
    network.write_text(
        (here / "network.yaml").read_text().replace("192.0.2.", "127.81.0.").replace("198.51.100.10", "127.82.0.10")
    )
    endpoints = work / "endpoints.yaml"
    lines = []
    for cluster, first in control_planes.CLUSTERS.items():
        for (service, listening, offset), port in zip(control_planes.SERVICES, (6443, 6443, 443, 8091), strict=True):
            lines.append(f'"hcp-{cluster}/{service}:{port}": ["127.82.0.{first + offset}:{listening + BASE}"]\n')
    endpoints.write_text("".join(lines))
    state = str(work / "state")
    maps = [word for port in (67, 53, 443, 6443) for word in ("--map-port", f"{port}=0")]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        control = [sys.executable, str(here / "control_planes.py"), str(work), "127.82.0", str(BASE)]
        planes = subprocess.Popen(control, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.append(planes)
        command = [hcpnet, "up", str(network), "--endpoints", str(endpoints), "--state-dir", state, *maps]
        server = subprocess.Popen(command)
        processes.append(server)
        assert planes.stdout is not None
        planes.stdout.readline()
        bound = wait_ready(hcpnet, state, server)

        def expect(title: str, found: str, wanted: str) -> None:
            nonlocal failures
            failures += found != wanted
            print(title, "->", found if found == wanted else f"{found} FAILED: expected {wanted}", flush=True)

        dns = bound["dns", "127.81.0.3:53"]
        for cluster in control_planes.CLUSTERS:
            address, dns_port = dns.split(":")
            name = f"api.{cluster}.{DOMAIN}"
            answer = subprocess.run(
                ["dig", "+short", f"@{address}", "-b", "127.81.0.99", "-p", dns_port, name],
                capture_output=True,
                text=True,
                timeout=20,
            )
            expect(f"dig {name}", answer.stdout.strip(), "127.81.0.4")
            for service, (label, number) in PUBLISHED.items():
                host, proxy_port = f"{label}.{cluster}.{DOMAIN}", bound["proxy", f"127.81.0.4:{number}"].split(":")[1]
                curl = [
                    "curl",
                    "-sS",
                    "--max-time",
                    "10",
                    "--cacert",
                    str(work / "ca.crt"),
                    "--resolve",
                    f"{host}:{proxy_port}:127.81.0.4",
                    f"https://{host}:{proxy_port}/",
                ]
                done = subprocess.run(curl, capture_output=True, text=True, timeout=20)
                expect(f"curl {host}", (done.stdout or done.stderr).strip(), f"{cluster} {service}")
        server.send_signal(signal.SIGTERM)
        expect("clean stop, exit status", str(server.wait(timeout=15)), "0")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hcpnet", default="hcpnet")
    arguments = parser.parse_args()
    hcpnet = shutil.which(arguments.hcpnet)
    if hcpnet is None:
        parser.error(f"{arguments.hcpnet}: no such command")
    end_on_signals()
    with tempfile.TemporaryDirectory(prefix="hcpnet-demo-") as work:
        return play(str(Path(hcpnet).resolve()), Path(work))


if __name__ == "__main__":
    sys.exit(main())
