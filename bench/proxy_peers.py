# SPDX-License-Identifier: Apache-2.0
"""The proxies that scripts/bench proxy compares: how each is configured for one port and one backend, and started."""

from __future__ import annotations

import json
import resource
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from process_group import ProcessGroup

BACKEND_PORT = 5100
LISTENERS = [f"127.0.0.{i}" for i in range(1, 5)]
BACKENDS = [f"127.0.1.{i}" for i in range(1, 5)]
MARKER = "marker.bench.example"  # its route changes with a reload

# HAProxy does not start unless it may open two descriptors for each connection that it may have.
MAX_CONNECTIONS = min(30_000, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 2_000) // 2)


def name_of(index: int) -> str:
    """The host name of the route with this index."""
    return f"host{index}.bench.example"


@dataclass
class Setup:
    """What the proxies of one comparison have in common."""

    build: str  # folder of our programs
    envoy: str  # the program
    folder: Path
    names: int = 20
    workers: int = 1
    first_port: int = 6000


@dataclass
class Proxy(ProcessGroup):
    """One program on one port. `files` makes its texts, with the marker leading to a port or, with 0, nowhere."""

    name: str
    port: int
    names: int
    command: list[str]
    files: Callable[[int], dict[Path, str]] = lambda _: {}
    reload_signal: int = 0  # 0: it watches its files
    log: str = "/dev/null"
    prepared: list[Path] = field(default_factory=list)

    def prepare(self, marker: int) -> None:
        """Writes new files beside those that are there."""
        for path, text in self.files(marker).items():
            path.with_name(path.name + ".new").write_text(text)
            self.prepared.append(path)

    def publish(self) -> None:
        """Puts prepared files in their places; a program that watches them sees whole ones."""
        for path in self.prepared:
            path.with_name(path.name + ".new").rename(path)
        self.prepared.clear()

    def start(self, cores: str) -> float:
        """Returns the seconds from the start of the program until it accepts."""
        begin = time.perf_counter()
        self.launch(cores, self.command, self.log, {})
        while not self.accepts():
            if self.process.poll() is not None or time.perf_counter() - begin > 60:
                raise RuntimeError(f"{self.name} did not start; its output is in {self.log}")
        return time.perf_counter() - begin

    def accepts(self) -> bool:
        """Whether it takes a connection on its first listener; waits a millisecond if not."""
        with socket.socket() as probe:
            probe.settimeout(0.2)
            try:
                probe.connect((LISTENERS[0], self.port))
            except OSError:
                time.sleep(0.001)
                return False
        return True

    def reload(self) -> None:
        """Lets it read what was prepared."""
        self.publish()
        if self.reload_signal:
            self.process.send_signal(self.reload_signal)

    def memory_bytes(self) -> int:
        """Private to its processes."""
        return self.memory_kib("Private_Clean", "Private_Dirty") * 1024


class Direct(Proxy):
    """No proxy: clients connect to the backend, which is in their own thread."""

    def start(self, cores: str) -> float:
        """There is nothing to start."""
        return 0.0

    def cpu_seconds(self) -> float:
        """None is used."""
        return 0.0


def haproxy(setup: Setup, name: str, port: int, tuning: str, options: str) -> Proxy:
    """HAProxy; `tuning` goes into its section global, `options` into its defaults."""
    names, config = setup.folder / f"{name}.map", setup.folder / f"{name}.cfg"
    servers = "".join(f"  server s{i} {address}:{BACKEND_PORT}\n" for i, address in enumerate(BACKENDS))
    binds = "".join(f"  bind {address}:{port}\n" for address in LISTENERS)

    def files(marker: int) -> dict[Path, str]:
        entries = "".join(f"{name_of(i)} backend\n" for i in range(setup.names))
        marked = f"backend marker\n  server m {BACKENDS[0]}:{marker}\n" if marker else ""
        text = f"""global
  maxconn {MAX_CONNECTIONS}
  nbthread {setup.workers}
{tuning}
defaults
  mode tcp
  timeout connect 30s
  timeout client 1h
  timeout server 1h
{options}
frontend f
  maxconn {MAX_CONNECTIONS}
{binds}  tcp-request inspect-delay 5s
  tcp-request content accept if {{ req.ssl_hello_type 1 }}
  use_backend %[req.ssl_sni,lower,map_str({names})]
backend backend
{servers}{marked}"""
        return {names: entries + (f"{MARKER} marker\n" if marker else ""), config: text}

    # The master process takes one worker's place by another's at a reload.
    command = ["haproxy", "-W", "-db", "-f", str(config)]
    log = str(setup.folder / f"{name}.log")
    return Proxy(name, port, setup.names, command, files, signal.SIGUSR2, log=log)


def nginx(setup: Setup, name: str, port: int, tuning: str) -> Proxy:
    """Nginx with its module stream; `tuning` goes into its server."""
    config = setup.folder / f"{name}.conf"
    reuse = " reuseport" if setup.workers > 1 else ""
    listens = "".join(f"    listen {address}:{port} backlog=16384{reuse};\n" for address in LISTENERS)
    servers = "".join(f"    server {address}:{BACKEND_PORT};\n" for address in BACKENDS)

    def files(marker: int) -> dict[Path, str]:
        entries = "".join(f"    {name_of(i)} backend;\n" for i in range(setup.names))
        marked = f"  upstream marker {{ server {BACKENDS[0]}:{marker}; }}\n" if marker else ""
        if marker:
            entries += f"    {MARKER} marker;\n"
        text = f"""load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
worker_processes {setup.workers};
pid {setup.folder}/{name}.pid;
error_log {setup.folder}/{name}.error;
worker_rlimit_nofile 65536;
events {{ worker_connections 60000; multi_accept on; }}
stream {{
  map_hash_max_size 262144;
  map_hash_bucket_size 128;
  map $ssl_preread_server_name $chosen {{
{entries}  }}
  upstream backend {{
{servers}  }}
{marked}  server {{
{listens}    ssl_preread on;
    proxy_timeout 1h;
{tuning}    proxy_pass $chosen;
  }}
}}
"""
        return {config: text}

    command = ["nginx", "-p", str(setup.folder), "-c", str(config)]
    return Proxy(name, port, setup.names, command, files, signal.SIGHUP, log=str(setup.folder / f"{name}.log"))


def sniproxy(setup: Setup, name: str, port: int) -> Proxy:
    """SNIProxy, with at most 1000 of the names."""
    config = setup.folder / f"{name}.conf"
    listens = "".join(f"listen {address}:{port} {{\n  proto tls\n  table t\n}}\n" for address in LISTENERS)
    entries = "".join(
        f"  {name_of(i).replace('.', chr(92) * 2 + '.')} {BACKENDS[i % 4]}:{BACKEND_PORT}\n"
        for i in range(min(setup.names, 1000))
    )

    def files(_: int) -> dict[Path, str]:
        return {config: f"{listens}table t {{\n{entries}}}\n"}

    command = ["sniproxy", "-f", "-n", "30000", "-c", str(config)]
    return Proxy(name, port, setup.names, command, files, log=str(setup.folder / f"{name}.log"))


def envoy_address(address: str, port: int) -> dict:
    """An address in Envoy's form."""
    return {"socket_address": {"address": address, "port_value": port}}


def envoy_cluster(name: str, endpoints: list[tuple[str, int]]) -> dict:
    """A cluster of Envoy without its limits."""
    members = [{"endpoint": {"address": envoy_address(*endpoint)}} for endpoint in endpoints]
    limits = dict.fromkeys(("max_connections", "max_pending_requests"), 1_000_000)
    return {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "STATIC",
        "connect_timeout": "30s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": members}]},
        "circuit_breakers": {"thresholds": [limits]},
    }


def envoy_chain(names: list[str], cluster: str) -> dict:
    """A filter chain that passes what is for these names on to a cluster."""
    proxy = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        "stat_prefix": cluster,
        "cluster": cluster,
        "idle_timeout": "0s",
    }
    return {
        "filter_chain_match": {"server_names": names},
        "filters": [{"name": "envoy.filters.network.tcp_proxy", "typed_config": proxy}],
    }


def envoy_listener(port: int, chains: list[dict]) -> dict:
    """A listener of Envoy on all addresses that looks at the ClientHello."""
    inspector = {"@type": "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"}
    return {
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "bench",
        "address": envoy_address(LISTENERS[0], port),
        "additional_addresses": [{"address": envoy_address(address, port)} for address in LISTENERS[1:]],
        "tcp_backlog_size": 16384,
        "listener_filters": [{"name": "envoy.filters.listener.tls_inspector", "typed_config": inspector}],
        "filter_chains": chains,
    }


def envoy(setup: Setup, name: str, port: int) -> Proxy:
    """Envoy, which watches its listeners and clusters as files."""
    folder = setup.folder / name
    folder.mkdir(exist_ok=True)

    def files(marker: int) -> dict[Path, str]:
        chains = [envoy_chain([name_of(i) for i in range(setup.names)], "backend")]
        clusters = [envoy_cluster("backend", [(address, BACKEND_PORT) for address in BACKENDS])]
        if marker:  # a cluster that changes is warmed first, so the new one has a name of its own
            chains.append(envoy_chain([MARKER], f"marker-{marker}"))
            clusters.append(envoy_cluster(f"marker-{marker}", [(BACKENDS[0], marker)]))
        texts = {"cds": clusters, "lds": [envoy_listener(port, chains)]}  # in this order: listeners mention clusters
        return {folder / f"{kind}.json": json.dumps({"resources": found}) for kind, found in texts.items()}

    sources = {
        f"{kind}_config": {"resource_api_version": "V3", "path_config_source": {"path": str(folder / f"{kind}.json")}}
        for kind in ("lds", "cds")
    }
    bootstrap = folder / "envoy.json"
    bootstrap.write_text(json.dumps({"node": {"id": name, "cluster": name}, "dynamic_resources": sources}))
    command = [setup.envoy, "-c", str(bootstrap), "--concurrency", str(setup.workers)]
    command += ["--disable-hot-restart", "-l", "error"]
    return Proxy(name, port, setup.names, command, files, log=str(setup.folder / f"{name}.log"))


def hcpnet(setup: Setup, name: str, port: int) -> Proxy:
    """Ours, as another program embeds it."""
    marker_file = setup.folder / f"{name}.marker"

    def files(marker: int) -> dict[Path, str]:
        return {marker_file: f"{marker}\n"}

    command = [f"{setup.build}/bench/proxy_server", str(port), str(BACKEND_PORT), str(setup.names)]
    command += [str(setup.workers), str(marker_file)]
    return Proxy(name, port, setup.names, command, files, signal.SIGHUP, log=str(setup.folder / f"{name}.log"))


def make_proxies(setup: Setup, wanted: list[str], marker: int = 0) -> list[Proxy]:
    """Each on a port of its own, so that all can be up at once, with its files written."""
    big = 62 * 1024
    splice = "  option splice-request\n  option splice-response"
    pipes = f"  tune.pipesize {1024 * 1024}\n  maxpipes 900"
    makers: dict[str, Callable[[str, int], Proxy]] = {
        "hcpnet": lambda name, port: hcpnet(setup, name, port),
        "direct": lambda name, _: Direct(name, 0, setup.names, []),
        "floor": lambda name, port: Proxy(
            name, port, setup.names, [f"{setup.build}/bench/proxy_floor", str(port), str(BACKEND_PORT)]
        ),
        "haproxy": lambda name, port: haproxy(setup, name, port, "", ""),
        "haproxy-62k": lambda name, port: haproxy(setup, name, port, f"  tune.bufsize {big}", ""),
        "haproxy-splice": lambda name, port: haproxy(setup, name, port, pipes, splice),
        "haproxy-busy": lambda name, port: haproxy(setup, name, port, "  busy-polling", ""),
        "nginx": lambda name, port: nginx(setup, name, port, ""),
        "nginx-62k": lambda name, port: nginx(setup, name, port, f"    proxy_buffer_size {big};\n"),
        "sniproxy": lambda name, port: sniproxy(setup, name, port),
        "envoy": lambda name, port: envoy(setup, name, port),
    }
    made = [makers[name](name, setup.first_port + i) for i, name in enumerate(makers) if name in wanted]
    for proxy in made:
        proxy.prepare(marker)
        proxy.publish()
    return made
