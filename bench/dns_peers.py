# SPDX-License-Identifier: Apache-2.0
"""The DNS servers that scripts/bench dns compares: how each is configured for one zone and one worker, and started."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from process_group import ProcessGroup

ZONE = "bench.example"
MAX_SPEC_NAMES = 38_000  # more do not fit into two spec files
UPSTREAM_PORT = 5300  # of the server that answers what is forwarded


def address_of(index: int) -> str:
    """The address of a name."""
    return f"10.{index >> 16}.{index >> 8 & 255}.{index & 255}"


def name_of(index: int) -> str:
    """The name of a number; all are equally long."""
    return f"host{index:06}.{ZONE}"


@dataclass
class Tools:
    """Programs that are not on the path."""

    hcpnet: str
    dns_server: str
    coredns: str


@dataclass
class Server(ProcessGroup):
    """One program on one port; `environment` on top of ours."""

    name: str
    port: int
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    log: str = "/dev/null"

    def start(self, cores: str) -> float:
        """Returns the seconds from the start of the program to its first right answer."""
        begin = time.perf_counter()
        self.launch(cores, self.command, self.log, self.environment)
        while not self.answers():
            if self.process.poll() is not None or time.perf_counter() - begin > 60:
                raise RuntimeError(f"{self.name} did not start; its output is in {self.log}")
        return time.perf_counter() - begin

    def answers(self) -> bool:
        """Whether it gives the right kind of answer now."""
        question = b"".join(bytes([len(label)]) + label.encode() for label in name_of(7).split(".")) + b"\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("127.0.0.1", self.port))
            probe.settimeout(0.05)
            try:
                probe.send(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + question)
                reply = probe.recv(1500)
            except OSError:
                time.sleep(0.001)
                return False
        return reply[3] & 15 == 0 and reply[7] > 0

    def memory_mb(self, what: str) -> float:
        """Rss or Pss, of all its processes."""
        return self.memory_kib(what) / 1024


def write_spec(folder: Path, names: int, port: int) -> list[str]:
    """A spec file holds 100,000 values, so half of the names stand in the server's policy."""
    entries = [{"hostname": name_of(i), "ip": address_of(i)} for i in range(names)]
    metadata = {"name": "bench", "namespace": "bench"}
    server = {
        "apiVersion": "hostedcluster.densityops.com/v1alpha1",
        "kind": "DNSServer",
        "metadata": metadata,
        "spec": {
            "networkConfig": {"serverIP": "127.0.0.1", "proxyIP": "127.0.0.1", "dnsPort": port},
            "hostedClusterDomain": ZONE,
            "staticEntries": entries[: names // 2],
        },
    }
    policy = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "DNSPolicy",
        "metadata": metadata,
        "spec": {"targetRef": {"kind": "DNSServer", "name": "bench"}, "entries": entries[names // 2 :]},
    }
    return [
        write(folder / f"{kind}-{port}.json", json.dumps(content))
        for kind, content in (("server", server), ("policy", policy))
    ]


def write_file_spec(folder: Path, zone: Path, port: int) -> str:
    """The same names from a zone file, which has no such limit."""
    metadata = {"name": "bench", "namespace": "bench"}
    server = {
        "apiVersion": "hostedcluster.densityops.com/v1alpha1",
        "kind": "DNSServer",
        "metadata": metadata,
        "spec": {
            "networkConfig": {"serverIP": "127.0.0.1", "proxyIP": "127.0.0.1", "dnsPort": port},
            "hostedClusterDomain": "other.example",
            "staticEntries": [],
        },
    }
    policy = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "DNSPolicy",
        "metadata": metadata,
        "spec": {
            "targetRef": {"kind": "DNSServer", "name": "bench"},
            "zoneFiles": [{"path": str(zone), "zone": ZONE}],
        },
    }
    return write(folder / f"files-{port}.yaml", f"---\n{json.dumps(server)}\n---\n{json.dumps(policy)}\n")


def render(tools: Tools, folder: Path, names: int, target: str, port: int) -> Path:
    """The folder where `hcpnet dns render` put what it wrote, for the first names; the others are added."""
    output = folder / f"{target}-{port}"
    few = 20
    subprocess.run(
        [
            tools.hcpnet,
            "dns",
            "render",
            "--target",
            target,
            "--output-dir",
            str(output),
            "--file-prefix",
            f"{output}/",
            *write_spec(folder, few, port),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    last_name, last_address = name_of(few - 1), address_of(few - 1)
    for path in output.rglob("*"):
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        for at, line in enumerate(lines):
            if last_name in line and last_address in line:
                more = (
                    line.replace(last_name, name_of(i)).replace(last_address, address_of(i)) for i in range(few, names)
                )
                path.write_text("".join([*lines[: at + 1], *more, *lines[at + 1 :]]))
                break
    return output


def only_file(folder: Path, pattern: str) -> Path:
    """The file of that pattern, of which there is one."""
    return sorted(folder.rglob(pattern))[0]


def write(path: Path, text: str) -> str:
    """Returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def make_servers(tools: Tools, folder: Path, names: int, workers: int, wanted: list[str]) -> list[Server]:
    """Those of `wanted` that are installed, each with its zone files and configuration below `folder`."""
    zone = only_file(render(tools, folder, names, "zonefile", 53), "*.zone")
    hosts = only_file(render(tools, folder, names, "hosts", 53), "*.hosts")
    os.utime(zone, (1, 1))  # `hcpnet up` waits for what was written a moment ago; NSD loads no zone of the time 0
    up = [tools.hcpnet, "up", "--no-watch", "--log-level", "error", "--state-dir", str(folder / "state")]
    makers = {
        "hcpnet": lambda port: [tools.dns_server, str(port), str(zone), str(workers)],
        "hcpnet up": lambda port: [*up, *write_spec(folder, min(names, MAX_SPEC_NAMES), port)],
        "hcpnet up, zone file": lambda port: [*up, write_file_spec(folder, zone, port)],
        "knot": lambda port: ["knotd", "-c", knot_conf(folder / f"knot-{port}", port, zone, workers)],
        "nsd": lambda port: ["nsd", "-d", "-c", nsd_conf(folder / f"nsd-{port}", port, zone, workers)],
        "unbound": lambda port: ["unbound", "-d", "-c", unbound_conf(tools, folder, names, port, workers)],
        "bind": lambda port: ["named", "-f", "-n", str(workers), "-c", bind_conf(tools, folder, names, port)],
        "dnsmasq": lambda port: [
            "dnsmasq",
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--user=",
            "--pid-file=",
            "--no-resolv",
            "--no-hosts",
            f"--addn-hosts={hosts}",
            f"--port={port}",
            "--listen-address=127.0.0.1",
            "--bind-interfaces",
        ],
        "coredns file": lambda port: [tools.coredns, "-conf", corefile(folder, port, f"file {zone} {ZONE}", "file")],
        "coredns hosts": lambda port: [
            tools.coredns,
            "-conf",
            corefile(folder, port, f"hosts {hosts} {{\n ttl 30\n no_reverse\n}}", "hosts"),
        ],
    }
    servers = []
    for number, name in enumerate(wanted):
        port = 5301 + number
        command = makers[name](port)
        if shutil.which(command[0]) is None:
            raise RuntimeError(f"{command[0]} is not installed")
        environment = {"GOMAXPROCS": str(workers)} if name.startswith("coredns") else {}
        servers.append(Server(name, port, command, environment, log=str(folder / f"log-{port}")))
    return servers


def knot_conf(folder: Path, port: int, zone: Path, workers: int) -> str:
    """Knot."""
    return write(
        folder / "knot.conf",
        f"""
server:
  rundir: {folder}
  listen: 127.0.0.1@{port}
  udp-workers: {workers}
  tcp-workers: 1
  background-workers: 1
database:
  storage: {folder}
zone:
  - domain: {ZONE}
    file: {zone}
    zonefile-sync: -1
    journal-content: none
""",
    )


def nsd_conf(folder: Path, port: int, zone: Path, workers: int) -> str:
    """NSD, whose rate limit is on unless told."""
    return write(
        folder / "nsd.conf",
        f"""
server:
  server-count: {workers}
  ip-address: 127.0.0.1@{port}
  username: ""
  database: ""
  zonesdir: {folder}
  pidfile: {folder}/pid
  xfrdfile: {folder}/xfrd
  zonelistfile: {folder}/zones
  verbosity: 0
  minimal-responses: yes
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: {ZONE}
  zonefile: {zone}
""",
    )


def unbound_conf(tools: Tools, folder: Path, names: int, port: int, workers: int) -> str:
    """As rendered, with one view for every client."""
    rendered = only_file(render(tools, folder, names, "unbound", port), "*.conf")
    # unbound has a rule of its own for 127.0.0.0/8, longer than the view's prefix.
    view = "server:\n  access-control-view: 127.0.0.0/8 vlan\n"
    return write(rendered, rendered.read_text() + view + unbound_basics(workers))


def unbound_basics(workers: int) -> str:
    """What a run in front needs."""
    return f"""
server:
  num-threads: {workers}
  username: ""
  chroot: ""
  pidfile: ""
  use-syslog: no
  verbosity: 0
  do-daemonize: no
  so-reuseport: yes
remote-control:
  control-enable: no
"""


def bind_conf(tools: Tools, folder: Path, names: int, port: int) -> str:
    """As rendered."""
    output = render(tools, folder, names, "bind", port)
    conf = output / "named.conf"
    basics = (
        f'options {{\n  directory "{output}";\n  pid-file none;\n  session-keyfile "{output}/key";\n  querylog no;\n'
    )
    return write(
        conf,
        conf.read_text().replace("options {\n", basics, 1) + "controls {};\nlogging { category default { null; }; };\n",
    )


def corefile(folder: Path, port: int, source: str, kind: str) -> str:
    """CoreDNS with one source of names."""
    return write(folder / f"Corefile-{kind}", f"{ZONE}:{port} {{\n bind 127.0.0.1\n {source}\n}}\n")


def make_forwarders(tools: Tools, folder: Path, names: int, workers: int) -> tuple[Server, list[Server]]:
    """An upstream that knows the names, and hcpnet and unbound, which know nothing but it."""
    zone = only_file(render(tools, folder, names, "zonefile", 53), "*.zone")
    upstream = Server(
        "upstream",
        UPSTREAM_PORT,
        ["nsd", "-d", "-c", nsd_conf(folder / "upstream", UPSTREAM_PORT, zone, 1)],
        log=str(folder / "log-upstream"),
    )
    spec = {
        "apiVersion": "hostedcluster.densityops.com/v1alpha1",
        "kind": "DNSServer",
        "metadata": {"name": "bench", "namespace": "bench"},
        "spec": {
            "networkConfig": {"serverIP": "127.0.0.1", "proxyIP": "127.0.0.1", "dnsPort": 5351},
            "hostedClusterDomain": "other.example",
            "staticEntries": [],
            "upstreamDNS": [f"127.0.0.1:{UPSTREAM_PORT}"],
        },
    }
    spec_file = write(folder / "forward.json", json.dumps(spec))
    unbound = write(
        folder / "forward-unbound.conf",
        f"""
server:
  interface: 127.0.0.1@5352
  do-not-query-localhost: no
  module-config: "iterator"
  msg-cache-size: 64m
  rrset-cache-size: 64m
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@{UPSTREAM_PORT}
"""
        + unbound_basics(workers),
    )
    return upstream, [
        Server(
            "hcpnet",
            5351,
            [tools.hcpnet, "up", "--no-watch", "--log-level", "error", "--state-dir", str(folder / "state"), spec_file],
            log=str(folder / "log-5351"),
        ),
        Server("unbound", 5352, ["unbound", "-d", "-c", unbound], log=str(folder / "log-5352")),
    ]
