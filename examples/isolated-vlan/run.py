#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demonstration: two hosted clusters on one isolated VLAN, seen by stock clients.

    vm-blue, vm-red --veth-- lan (bridge) --veth-- infra (hcpnet up) --veth-- mgmt (control planes, site DNS)

Every namespace is made here, with a name of its own for this run, and removed at the end, also after a failure.
Exit status 0 when every step was seen to work.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import control_planes

HERE = Path(__file__).resolve().parent
DOMAIN = "hc.example.com"
SKIPPED = 77  # exit status: nothing was shown, and why was said
PUBLISHED = {
    "kube-apiserver": ("api", 6443),
    "oauth-openshift": ("oauth", 443),
    "ignition-server-proxy": ("ignition", 443),
    "konnectivity-server": ("konnectivity", 443),
}
KUBERNETES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")


class StepFailed(Exception):
    pass


def end_on_signals() -> None:
    """SIGTERM and SIGHUP end the demonstration as ^C does: what it made is removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))


class Demo:
    def __init__(self, hcpnet: str) -> None:
        self.hcpnet = hcpnet
        self.id = f"hcpnet{os.getpid()}"
        self.work = Path(tempfile.mkdtemp(prefix="hcpnet-demo-"))
        self.namespaces: list[str] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        self.began = time.monotonic()
        self.failures = 0

    # --- plumbing

    def run(self, *command: str, ns: str | None = None, timeout: float = 30, check: bool = True) -> str:
        full = (["ip", "netns", "exec", self.ns(ns)] if ns else []) + list(command)
        done = subprocess.run(full, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise StepFailed(f"{' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()}")
        return done.stdout.strip()

    def start(
        self, *command: str, ns: str, stdin: int | None = subprocess.DEVNULL, stdout: int | None = None, log: str = ""
    ) -> subprocess.Popen[bytes]:
        output = open(self.work / log, "wb") if log else None  # noqa: SIM115  it is the process that writes it
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.ns(ns), *command],
            stdin=stdin,
            stdout=stdout if stdout is not None else output,
            stderr=output,
        )
        if output:
            output.close()
        self.processes.append(process)
        return process

    def ns(self, short: str) -> str:
        return f"{self.id}-{short}"

    def step(self, title: str, observed: object = None) -> None:
        print(f"[{time.monotonic() - self.began:6.2f} s] {title}", flush=True)
        if observed is not None:
            for line in str(observed).splitlines():
                print(f"             {line}", flush=True)

    def expect(self, title: str, found: str, wanted: str) -> None:
        self.step(title, found)
        if found != wanted:
            self.failures += 1
            print(f"             FAILED: expected {wanted}", flush=True)

    # --- the network

    def make_namespaces(self) -> None:
        for short in ("vm-blue", "vm-red", "lan", "infra", "mgmt"):
            self.run("ip", "netns", "add", self.ns(short))
            self.namespaces.append(self.ns(short))
            # bound over /etc/resolv.conf by `ip netns exec`: the clients' scripts write here and getent reads it
            folder = Path("/etc/netns") / self.ns(short)
            folder.mkdir(parents=True)
            (folder / "resolv.conf").write_text("")
            self.run("ip", "link", "set", "lo", "up", ns=short)
        self.run("ip", "link", "add", "br0", "type", "bridge", ns="lan")
        self.run("ip", "link", "set", "br0", "up", ns="lan")
        for short, device, mac in (
            ("vm-blue", "eth0", "02:00:00:00:0b:01"),
            ("vm-red", "eth0", "02:00:00:00:0e:01"),
            ("infra", "net1", "02:00:00:00:01:01"),
        ):
            port = f"p-{short}"
            self.run(
                "ip",
                "link",
                "add",
                device,
                "address",
                mac,
                "netns",
                self.ns(short),
                "type",
                "veth",
                "peer",
                "name",
                port,
                "netns",
                self.ns("lan"),
            )
            self.run("ip", "link", "set", port, "master", "br0", "up", ns="lan")
            self.run("ip", "link", "set", device, "up", ns=short)
        self.run(
            "ip",
            "link",
            "add",
            "eth0",
            "netns",
            self.ns("infra"),
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            self.ns("mgmt"),
        )
        for address in ("192.0.2.2/24", "192.0.2.3/24", "192.0.2.4/24"):
            self.run("ip", "addr", "add", address, "dev", "net1", ns="infra")
        self.run("ip", "addr", "add", "198.51.100.10/24", "dev", "eth0", ns="infra")
        for host in (2, 53, 21, 22, 23, 24, 31, 32, 33, 34):
            self.run("ip", "addr", "add", f"198.51.100.{host}/24", "dev", "eth0", ns="mgmt")
        for short in ("infra", "mgmt"):
            self.run("ip", "link", "set", "eth0", "up", ns=short)

    def start_control_planes(self) -> None:
        make_certificates(self.work)
        planes = self.start(
            sys.executable,
            str(HERE / "control_planes.py"),
            str(self.work),
            "198.51.100",
            "0",
            ns="mgmt",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert planes.stdout is not None
        if planes.stdout.readline() != b"ready\n":
            raise StepFailed("the control planes did not start")
        self.start(
            "dnsmasq",
            "--keep-in-foreground",
            "--no-resolv",
            "--no-hosts",
            "--conf-file=/dev/null",
            "--pid-file",
            "--user=root",
            "--listen-address=198.51.100.53",
            "--bind-interfaces",
            "--address=/registry.example.net/198.51.100.80",
            ns="mgmt",
            log="dnsmasq.log",
        )

    def start_hcpnet(self) -> None:
        state = self.work / "state"
        state.mkdir()
        shutil.chown(state, 65534, 65534)
        self.work.chmod(0o755)
        capabilities = "-all,+net_bind_service,+net_raw"
        unprivileged = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            f"--inh-caps={capabilities}",
            f"--ambient-caps={capabilities}",
            f"--bounding-set={capabilities}",
            "--no-new-privs",
        ]
        files = ("network.yaml", "observed.yaml", "endpoints.yaml")
        copies = [str(shutil.copy(HERE / name, self.work)) for name in files]
        command = shutil.copy(self.hcpnet, self.work / "hcpnet")  # the tree may be closed to that user
        self.start(
            *unprivileged,
            str(command),
            "up",
            copies[0],
            "--observed",
            copies[1],
            "--endpoints",
            copies[2],
            "--state-dir",
            str(state),
            "--pod-address",
            "198.51.100.10",
            "--observe",
            "127.0.0.1:9090",
            ns="infra",
            log="hcpnet.log",
        )
        self.wait_for(
            "hcpnet to be ready",
            lambda: self.run("curl", "-sf", "http://127.0.0.1:9090/readyz", ns="infra", check=False) == "ok",
        )

    def wait_for(self, what: str, condition: Callable[[], bool], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise StepFailed(f"waited {seconds} s for {what}")
            time.sleep(0.05)

    # --- what the clients do

    def take_leases(self) -> None:
        script = self.work / "dhclient-script"
        script.write_text(DHCLIENT_SCRIPT)
        script.chmod(0o755)
        began = time.monotonic()
        self.run(
            "dhclient",
            "-4",
            "-1",
            "-sf",
            str(script),
            "-lf",
            str(self.work / "dhclient.leases"),
            "-pf",
            str(self.work / "dhclient.pid"),
            "eth0",
            ns="vm-blue",
            timeout=60,
        )
        self.step(f"vm-blue: dhclient took a lease in {time.monotonic() - began:.2f} s", self.address_of("vm-blue"))
        script = self.work / "udhcpc-script"
        script.write_text(UDHCPC_SCRIPT)
        script.chmod(0o755)
        began = time.monotonic()
        self.run("udhcpc", "-i", "eth0", "-n", "-q", "-f", "-s", str(script), ns="vm-red", timeout=60)
        self.step(f"vm-red: udhcpc took a lease in {time.monotonic() - began:.2f} s", self.address_of("vm-red"))
        for short in ("vm-blue", "vm-red"):
            resolver = (Path("/etc/netns") / self.ns(short) / "resolv.conf").read_text().strip()
            self.expect(f"{short}: its DNS server", resolver, "nameserver 192.0.2.3")
            self.expect(
                f"{short}: its gateway",
                self.run("ip", "-4", "route", "show", "default", ns=short).split(" dev")[0],
                "default via 192.0.2.1",
            )

    def address_of(self, short: str) -> str:
        words = self.run("ip", "-4", "-o", "addr", "show", "dev", "eth0", ns=short).split()
        address = words[words.index("inet") + 1] if "inet" in words else ""
        if not address.startswith("192.0.2.1") or not address.endswith("/24"):
            raise StepFailed(f"{short} has no address of the pool: {address or 'none'}")
        return address

    def dig(self, name: str, kind: str, ns: str, server: str) -> str:
        lines = self.run("dig", "+tries=2", "+time=3", f"@{server}", name, kind, ns=ns).splitlines()
        status = next(line.split("status: ")[1].split(",")[0] for line in lines if "status: " in line)
        answers = [line.split()[-1] for line in lines if line and not line.startswith(";") and f"\t{kind}\t" in line]
        soa = any("\tSOA\t" in line for line in lines)
        return " ".join([status, *answers, *(["SOA"] if soa else [])])

    def resolve(self) -> None:
        for cluster in control_planes.CLUSTERS:
            name = f"api.{cluster}.{DOMAIN}"
            self.expect(
                f"vm-blue: getent ahostsv4 {name}",
                self.run("getent", "ahostsv4", name, ns="vm-blue").split()[0],
                "192.0.2.4",
            )
            self.expect(f"vm-blue: dig {name} A", self.dig(name, "A", "vm-blue", "192.0.2.3"), "NOERROR 192.0.2.4")
            self.expect(
                f"vm-blue: dig {name} AAAA (no data)", self.dig(name, "AAAA", "vm-blue", "192.0.2.3"), "NOERROR SOA"
            )
            self.expect(
                f"pod side: dig {name} A", self.dig(name, "A", "mgmt", "198.51.100.10"), "NOERROR 198.51.100.10"
            )
        self.expect(
            "vm-blue: an unknown name of a cluster",
            self.dig(f"nobody.blue.{DOMAIN}", "A", "vm-blue", "192.0.2.3"),
            "NXDOMAIN SOA",
        )
        self.expect(
            "vm-blue: an application of blue, at its own address",
            self.dig(f"console.apps.blue.{DOMAIN}", "A", "vm-blue", "192.0.2.3"),
            "NOERROR 192.0.2.200",
        )
        self.expect(
            "pod side: the same, through the proxy",
            self.dig(f"console.apps.blue.{DOMAIN}", "A", "mgmt", "198.51.100.10"),
            "NOERROR 198.51.100.10",
        )
        self.expect(
            "vm-red: a name of the rest of the world",
            self.dig("registry.example.net", "A", "vm-red", "192.0.2.3"),
            "NOERROR 198.51.100.80",
        )

    def curl(self, url: str, ns: str) -> str:
        return self.run("curl", "-sS", "--max-time", "10", "--cacert", str(self.work / "ca.crt"), url, ns=ns)

    def reach_services(self) -> None:
        for cluster in control_planes.CLUSTERS:
            for service, (label, port) in PUBLISHED.items():
                url = f"https://{label}.{cluster}.{DOMAIN}:{port}/"
                self.expect(
                    f"vm-{cluster}: curl --cacert {url}", self.curl(url, f"vm-{cluster}"), f"{cluster} {service}"
                )
        for cluster in control_planes.CLUSTERS:
            self.expect(
                f"vm-{cluster}: no server name on 6443",
                self.curl("https://192.0.2.4:6443/", f"vm-{cluster}"),
                f"{cluster} kube-apiserver",
            )
            self.expect(
                f"vm-{cluster}: kubernetes.default.svc on 443",
                self.curl("https://kubernetes.default.svc/", f"vm-{cluster}"),
                f"{cluster} kube-apiserver",
            )
        self.run("sh", "-c", f"echo nameserver 198.51.100.10 > {Path('/etc/resolv.conf')}", ns="mgmt")
        self.expect(
            "pod side: oauth of red by its name",
            self.curl(f"https://oauth.red.{DOMAIN}/", "mgmt"),
            "red oauth-openshift",
        )
        refused = self.run(
            "curl",
            "-sS",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "--max-time",
            "5",
            "-k",
            "https://198.51.100.10:6443/",
            ns="mgmt",
            check=False,
        )
        self.expect("pod side: no server name, no cluster: closed", refused, "000")

    def look_inside(self) -> None:
        state = str(self.work / "state")
        self.step("hcpnet leases list", self.run(self.hcpnet, "leases", "list", "--state-dir", state, ns="infra"))
        for cluster in control_planes.CLUSTERS:
            address = self.address_of(f"vm-{cluster}").split("/")[0]
            route = self.run(
                self.hcpnet, "route", "", "--port", "6443", "--from", address, "--state-dir", state, ns="infra"
            )
            self.expect(
                f'hcpnet route "" --port 6443 --from {address}',
                route.splitlines()[0],
                f"hcp/vlan7 192.0.2.4:6443: {cluster}-kube-apiserver (no_sni, source belongs to hcp/{cluster})",
            )

    def stop_hcpnet(self) -> None:
        hcpnet = next(p for p in self.processes if isinstance(p.args, list) and "up" in p.args)
        hcpnet.send_signal(signal.SIGTERM)
        self.expect("hcpnet: clean stop on SIGTERM, exit status", str(hcpnet.wait(timeout=15)), "0")

    def clean_up(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second one must not leave half of it behind
        for process in self.processes:
            process.kill()
            process.wait()
        for name in self.namespaces:
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):  # it may end by itself
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], check=False)
            shutil.rmtree(Path("/etc/netns") / name, ignore_errors=True)
        if Path("/etc/netns").is_dir() and not any(Path("/etc/netns").iterdir()):
            Path("/etc/netns").rmdir()
        shutil.rmtree(self.work, ignore_errors=True)

    def play(self) -> int:
        try:
            self.step("namespaces vm-blue, vm-red, lan, infra, mgmt")
            self.make_namespaces()
            self.step("a CA, eight certificates, eight TLS servers and the site's DNS in mgmt")
            self.start_control_planes()
            self.step("hcpnet up in infra: not root, CAP_NET_BIND_SERVICE and CAP_NET_RAW only")
            self.start_hcpnet()
            self.take_leases()
            self.resolve()
            self.reach_services()
            self.look_inside()
            self.stop_hcpnet()
        except (StepFailed, subprocess.TimeoutExpired) as failure:
            self.failures += 1
            print(f"FAILED: {failure}", flush=True)
        finally:
            if self.failures and (self.work / "hcpnet.log").exists():
                print("--- hcpnet's log ---\n" + (self.work / "hcpnet.log").read_text(errors="replace"), flush=True)
            self.clean_up()
        self.step("every step worked" if not self.failures else f"{self.failures} steps failed")
        return 1 if self.failures else 0


def make_certificates(folder: Path, proxy_address: str = "192.0.2.4") -> None:
    """A CA, and for each service of each cluster a certificate for the names under which it is published."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=30)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    ca = ("-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key"))
    openssl(
        "req",
        "-x509",
        *curve,
        "-keyout",
        str(folder / "ca.key"),
        "-out",
        str(folder / "ca.crt"),
        "-subj",
        "/CN=hcpnet demonstration",
        "-days",
        "1",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
        "-addext",
        "keyUsage=critical,keyCertSign",
    )
    for cluster in control_planes.CLUSTERS:
        for service, (label, _) in PUBLISHED.items():
            names = [f"DNS:{label}.{cluster}.{DOMAIN}"]
            if service == "kube-apiserver":
                names += [f"DNS:{name}" for name in KUBERNETES] + [f"IP:{proxy_address}"]
            stem = str(folder / f"{cluster}-{service}")
            openssl(
                "req",
                "-x509",
                *ca,
                *curve,
                "-keyout",
                f"{stem}.key",
                "-out",
                f"{stem}.crt",
                "-subj",
                f"/CN={cluster} {service}",
                "-days",
                "1",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-addext",
                f"subjectAltName={','.join(names)}",
            )


# The clients' own scripts: apply the lease, write resolv.conf in place (a mount can't be replaced by rename).
DHCLIENT_SCRIPT = """#!/bin/sh
case "$reason" in
PREINIT) ip link set "$interface" up ;;
BOUND|RENEW|REBIND|REBOOT)
  ip addr flush dev "$interface" scope global
  ip addr add "$new_ip_address/$new_subnet_mask" dev "$interface"
  for router in $new_routers; do ip route replace default via "$router"; done
  : > /etc/resolv.conf
  for server in $new_domain_name_servers; do echo "nameserver $server" >> /etc/resolv.conf; done ;;
esac
"""
UDHCPC_SCRIPT = """#!/bin/sh
case "$1" in
bound|renew)
  ip addr flush dev "$interface" scope global
  ip addr add "$ip/$mask" dev "$interface"
  for gateway in $router; do ip route replace default via "$gateway"; done
  : > /etc/resolv.conf
  for server in $dns; do echo "nameserver $server" >> /etc/resolv.conf; done ;;
esac
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hcpnet", default="hcpnet", help="the hcpnet command to show (default: the one in PATH)")
    arguments = parser.parse_args()
    hcpnet = shutil.which(arguments.hcpnet)
    if hcpnet is None:
        parser.error(f"{arguments.hcpnet}: no such command")
    if os.geteuid() != 0:
        print("skipped: network namespaces need root; loopback.py shows what goes without")
        return SKIPPED
    missing = [
        tool
        for tool in ("ip", "dhclient", "udhcpc", "dig", "getent", "curl", "openssl", "dnsmasq", "setpriv")
        if shutil.which(tool) is None
    ]
    if missing:
        parser.error(f"missing: {', '.join(missing)}")
    end_on_signals()
    return Demo(str(Path(hcpnet).resolve())).play()


if __name__ == "__main__":
    sys.exit(main())
