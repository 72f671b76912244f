# SPDX-License-Identifier: Apache-2.0
"""DNS of `hcpnet up` as stock clients see it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from hcpnet_command import NETWORK, Hcpnet

NAMES = [f"{service}.blue.example.com" for service in ("api", "oauth", "ignition", "konnectivity", "no-such")]


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("client", ["dig", "kdig"])
def test_dig_and_kdig(hcpnet: Hcpnet, client: str, transport: str) -> None:
    hcpnet.up()
    address, port = hcpnet.bound("dns", 53)
    words = [client, f"@{address}", "-b", "127.83.0.200", "-p", str(port), "+tcp" if transport == "tcp" else "+notcp"]
    reply = run(*words, "api.blue.example.com", "A")
    assert re.search(r"[Ff]lags: qr aa", reply), reply
    assert re.search(r"^api\.blue\.example\.com\.\s+30\s+IN\s+A\s+127\.83\.0\.4$", reply, re.M), reply
    missing = run(*words, "no-such.blue.example.com", "A")
    assert "NXDOMAIN" in missing
    assert re.search(r"^blue\.example\.com\.\s+\d+\s+IN\s+SOA\s", missing, re.M), missing


def test_dnsperf_through_reloads_loses_no_query(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Each reload changes what one name means; the others must go on as if nothing was."""
    process = hcpnet.up("--no-watch")
    address, port = hcpnet.bound("dns", 53)
    queries = tmp_path / "queries"
    queries.write_text("".join(f"{name} A\n" for name in NAMES))
    is_over = threading.Event()

    def reload() -> None:
        for number in range(1_000_000):
            if is_over.is_set():
                return
            other = NETWORK.replace("198.51.100.10", f"198.51.100.{number % 200 + 1}")
            changed = hcpnet.network.with_suffix(".new")
            changed.write_text(other)
            changed.rename(hcpnet.network)
            process.send_signal(signal.SIGHUP)
            is_over.wait(0.02)

    reloader = threading.Thread(target=reload)
    reloader.start()
    try:
        report = run("dnsperf", "-s", address, "-p", str(port), "-d", str(queries), "-l", "5", "-q", "20", "-t", "10")
    finally:
        is_over.set()
        reloader.join()
    lost = re.search(r"Queries lost:\s+(\d+)", report)
    assert lost, report
    assert lost[1] == "0", report
    codes = re.search(r"Response codes:\s+NOERROR \d+ \((\d+\.\d+)%\), NXDOMAIN \d+ \((\d+\.\d+)%\)\n", report)
    assert codes, report
    assert (round(float(codes[1])), round(float(codes[2]))) == (80, 20), report
    assert hcpnet.ask("status")["reloads"] > 20


@pytest.mark.skipif(os.geteuid() != 0, reason="root: a mount namespace with a resolv.conf of its own")
def test_the_resolver_of_the_c_library(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """The library asks port 53 alone, so the server gets it, on an address that only this test uses."""
    hcpnet.network.write_text(NETWORK.replace("127.83.", "127.87."))
    hcpnet.up("--map-port", "53=53")
    assert hcpnet.bound("dns", 53) == ("127.87.0.3", 53)
    resolv_conf = tmp_path / "resolv.conf"
    resolv_conf.write_text("nameserver 127.87.0.3\noptions attempts:1 timeout:10\n")
    hosts_only = tmp_path / "nsswitch.conf"
    hosts_only.write_text("hosts: dns\n")
    script = (
        f"mount --bind {resolv_conf} /etc/resolv.conf && mount --bind {hosts_only} /etc/nsswitch.conf && "
        "getent ahosts api.blue.example.com && ! getent ahosts no-such.blue.example.com"
    )
    addresses = {line.split()[0] for line in run("unshare", "--mount", "sh", "-c", script).splitlines()}
    # The client's address is 127.0.0.1, which is on the pod side: it gets that side's answer.
    assert addresses == {"198.51.100.10"}
