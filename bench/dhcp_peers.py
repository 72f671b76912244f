# SPDX-License-Identifier: Apache-2.0
"""The DHCP servers that scripts/bench dhcp compares: how each is configured for one network, and started."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from process_group import ProcessGroup

SERVER_INTERFACE, CLIENT_INTERFACE = "srv", "cli"
SERVER_ADDRESS, CLIENT_ADDRESS = "10.9.0.2", "10.9.0.9"
LEASE_SECONDS = 36_000  # longer than any part of a run


@dataclass
class Network:
    """What is served; the clients' end of the cable is a relay's address in it as well."""

    prefix: int = 16
    first: str = "10.9.1.0"
    last: str = "10.9.255.250"

    @property
    def network(self) -> str:
        """Its address."""
        return "10.0.0.0" if self.prefix == 8 else "10.9.0.0"

    @property
    def mask(self) -> str:
        """Its mask."""
        return "255.0.0.0" if self.prefix == 8 else "255.255.0.0"


SMALL = Network()
HUGE = Network(8, "10.9.1.0", "10.255.255.250")


@dataclass
class Server(ProcessGroup):
    """One program in this network namespace; one of them at a time has the address."""

    name: str
    folder: Path
    command: list[str]
    environment: dict[str, str]

    @property
    def log(self) -> Path:
        """What it prints."""
        return self.folder / "log"

    def start(self, cores: str, answers: list[str]) -> float:
        """Returns the seconds from the start of the program until the command `answers` has got an answer."""
        begin = time.perf_counter()
        self.launch(cores, self.command, self.log, self.environment)
        while True:
            asked = subprocess.run(answers, capture_output=True, text=True)
            if asked.returncode == 0 and json.loads(asked.stdout)["exchanges"] > 0:
                return time.perf_counter() - begin
            if self.process.poll() is not None or time.perf_counter() - begin > 120:
                said = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self.name} did not start: {said}{asked.stderr}")

    def memory_mb(self) -> float:
        """Resident, of all its processes."""
        return self.memory_kib("Rss") / 1024


def write(path: Path, text: str) -> str:
    """Returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def hcpnet(program: str, folder: Path, network: Network) -> list[str]:
    """The command of operators, with everything durable before the ACK, which can't be turned off."""
    spec = {
        "apiVersion": "hostedcluster.densityops.com/v1alpha1",
        "kind": "DHCPServer",
        "metadata": {"name": "bench", "namespace": "bench"},
        "spec": {
            "networkConfig": {
                "cidr": f"{network.network}/{network.prefix}",
                "gateway": "10.9.0.1",
                "serverIP": SERVER_ADDRESS,
                "dnsServers": ["10.9.0.3"],
            },
            "leaseConfig": {"rangeStart": network.first, "rangeEnd": network.last, "leaseTime": f"{LEASE_SECONDS}s"},
        },
    }
    state = folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    file = write(folder / "dhcp.json", json.dumps(spec))
    return [program, "up", "--no-watch", "--log-level", "error", "--state-dir", str(state), file]


def kea(folder: Path, network: Network) -> list[str]:
    """Memfile with its journal, which it never syncs; raw sockets, so that it can answer clients on the link."""
    conf = {
        "Dhcp4": {
            "interfaces-config": {"interfaces": [SERVER_INTERFACE], "dhcp-socket-type": "raw"},
            "lease-database": {
                "type": "memfile",
                "persist": True,
                "name": str(folder / "leases.csv"),
                "lfc-interval": 0,
            },
            "multi-threading": {"enable-multi-threading": False},
            "valid-lifetime": LEASE_SECONDS,
            "subnet4": [
                {
                    "subnet": f"{network.network}/{network.prefix}",
                    "interface": SERVER_INTERFACE,
                    "pools": [{"pool": f"{network.first} - {network.last}"}],
                    "option-data": [
                        {"name": "routers", "data": "10.9.0.1"},
                        {"name": "domain-name-servers", "data": "10.9.0.3"},
                    ],
                }
            ],
            "loggers": [{"name": "kea-dhcp4", "severity": "ERROR", "output_options": [{"output": "stderr"}]}],
        }
    }
    return ["kea-dhcp4", "-c", write(folder / "kea.json", json.dumps(conf))]


def isc(folder: Path, network: Network) -> list[str]:
    """Syncs its file for each ACK; without the ping before an offer, which takes a second."""
    (folder / "leases").touch()
    conf = write(
        folder / "dhcpd.conf",
        f"""
authoritative;
ping-check false;
default-lease-time {LEASE_SECONDS};
max-lease-time {LEASE_SECONDS};
subnet {network.network} netmask {network.mask} {{
  range {network.first} {network.last};
  option routers 10.9.0.1;
  option domain-name-servers 10.9.0.3;
}}
""",
    )
    return ["dhcpd", "-4", "-f", "-q", "-cf", conf, "-lf", str(folder / "leases"), "--no-pid", SERVER_INTERFACE]


def dnsmasq(folder: Path, network: Network) -> list[str]:
    """Writes its whole file anew for each ACK."""
    return [
        "dnsmasq",
        "--keep-in-foreground",
        "--conf-file=/dev/null",
        "--user=",
        "--pid-file=",
        "--port=0",
        "--no-ping",
        "--quiet-dhcp",
        "--dhcp-authoritative",
        "--dhcp-lease-max=1000000",
        "--bind-interfaces",
        f"--interface={SERVER_INTERFACE}",
        "--except-interface=lo",
        f"--dhcp-range={network.first},{network.last},{network.mask},{LEASE_SECONDS}",
        "--dhcp-option=option:router,10.9.0.1",
        "--dhcp-option=option:dns-server,10.9.0.3",
        f"--dhcp-leasefile={folder / 'leases'}",
    ]


def make_server(name: str, program: str, folder: Path, network: Network) -> Server:
    """A server without leases; `program` is hcpnet's command."""
    folder.mkdir(parents=True)
    makers = {
        "hcpnet": lambda: hcpnet(program, folder, network),
        "kea": lambda: kea(folder, network),
        "isc": lambda: isc(folder, network),
        "dnsmasq": lambda: dnsmasq(folder, network),
    }
    command = makers[name]()
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"{command[0]} is not installed")
    environment = {"KEA_PIDFILE_DIR": str(folder), "KEA_LOCKFILE_DIR": str(folder)}
    return Server(name, folder, command, environment)
