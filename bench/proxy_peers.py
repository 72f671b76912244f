# SPDX-License-Identifier: Apache-2.0
"""The proxies that scripts/bench proxy compares: how each is configured for one port and one backend, and started."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

BACKEND_PORT = 5100
LISTENERS = [f"127.0.0.{i}" for i in range(1, 5)]
BACKENDS = [f"127.0.1.{i}" for i in range(1, 5)]

# HAProxy does not start unless it may open two descriptors for each connection that it may have.
MAX_CONNECTIONS = min(30_000, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 2_000) // 2)


def name_of(index: int) -> str:
    """The host name of the route with this index."""
    return f"host{index}.bench.example"


@dataclass
class Proxy:
    """One program on one port."""

    name: str
    port: int
    command: list[str]
    process: subprocess.Popen | None = None
    log: str = "/dev/null"

    def start(self, cores: str) -> float:
        """Returns the seconds from the start of the program until it accepts."""
        begin = time.perf_counter()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["taskset", "-c", cores, *self.command], stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
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

    def members(self) -> list[int]:
        """Its process group: some fork."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.getpgid(int(entry.name)) == self.process.pid:
                    found.append(int(entry.name))
            except ProcessLookupError:
                pass
        return found

    def cpu_seconds(self) -> float:
        """CPU time that the threads of its processes have used so far; those that ended do not count."""
        total = 0
        for pid in self.members():
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory_bytes(self) -> int:
        """Private to its processes."""
        total = 0
        for pid in self.members():
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Private_Clean:", "Private_Dirty:")):
                    total += int(line.split()[1]) * 1024
        return total

    def stop(self) -> None:
        """Ends its process group: asks first, and kills it if it is still there after five seconds."""
        if self.process is None:
            return
        for ask in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, ask)
                self.process.wait(5)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.process = None


def haproxy(folder: Path, name: str, port: int, names: int, workers: int, tuning: str, options: str) -> Proxy:
    """Writes a HAProxy configuration; `tuning` goes into its section global, `options` into its defaults."""
    (folder / f"{name}.map").write_text("".join(f"{name_of(i)} backend\n" for i in range(names)))
    servers = "".join(f"  server s{i} {address}:{BACKEND_PORT}\n" for i, address in enumerate(BACKENDS))
    binds = "".join(f"  bind {address}:{port}\n" for address in LISTENERS)
    config = folder / f"{name}.cfg"
    config.write_text(f"""global
  maxconn {MAX_CONNECTIONS}
  nbthread {workers}
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
  use_backend %[req.ssl_sni,lower,map_str({folder / f"{name}.map"})]
backend backend
{servers}""")
    return Proxy(name, port, ["haproxy", "-db", "-f", str(config)], log=str(folder / f"{name}.log"))


def nginx(folder: Path, name: str, port: int, names: int, workers: int, tuning: str) -> Proxy:
    """Writes an nginx configuration with the stream module; `tuning` goes into its server."""
    listens = "".join(
        f"    listen {address}:{port} backlog=16384{' reuseport' if workers > 1 else ''};\n" for address in LISTENERS
    )
    servers = "".join(f"    server {address}:{BACKEND_PORT};\n" for address in BACKENDS)
    entries = "".join(f"    {name_of(i)} backend;\n" for i in range(names))
    config = folder / f"{name}.conf"
    config.write_text(f"""load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
worker_processes {workers};
pid {folder}/{name}.pid;
error_log {folder}/{name}.error;
worker_rlimit_nofile 65536;
events {{ worker_connections 60000; multi_accept on; }}
stream {{
  map_hash_max_size 262144;
  map_hash_bucket_size 128;
  map $ssl_preread_server_name $chosen {{
{entries}  }}
  upstream backend {{
{servers}  }}
  server {{
{listens}    ssl_preread on;
    proxy_timeout 1h;
{tuning}    proxy_pass $chosen;
  }}
}}
""")
    return Proxy(name, port, ["nginx", "-p", str(folder), "-c", str(config)], log=str(folder / f"{name}.log"))


def sniproxy(folder: Path, name: str, port: int, names: int) -> Proxy:
    """Writes an SNIProxy configuration, with at most 1000 of the names."""
    listens = "".join(f"listen {address}:{port} {{\n  proto tls\n  table t\n}}\n" for address in LISTENERS)
    entries = "".join(
        f"  {name_of(i).replace('.', chr(92) * 2 + '.')} {BACKENDS[i % 4]}:{BACKEND_PORT}\n"
        for i in range(min(names, 1000))
    )
    config = folder / f"{name}.conf"
    config.write_text(f"{listens}table t {{\n{entries}}}\n")
    return Proxy(name, port, ["sniproxy", "-f", "-n", "30000", "-c", str(config)], log=str(folder / f"{name}.log"))


def make_proxies(build: str, folder: Path, names: int, workers: int, wanted: list[str]) -> list[Proxy]:
    """Each on a port of its own, so that all can be up at once."""
    big = 62 * 1024
    makers = {
        "hcpnet": lambda name, port: Proxy(
            name,
            port,
            [f"{build}/bench/proxy_server", str(port), str(BACKEND_PORT), str(names), str(workers)],
            log=str(folder / "hcpnet.log"),
        ),
        "floor": lambda name, port: Proxy(name, port, [f"{build}/bench/proxy_floor", str(port), str(BACKEND_PORT)]),
        "haproxy": lambda name, port: haproxy(folder, name, port, names, workers, "", ""),
        "haproxy-62k": lambda name, port: haproxy(folder, name, port, names, workers, f"  tune.bufsize {big}", ""),
        "haproxy-splice": lambda name, port: haproxy(
            folder,
            name,
            port,
            names,
            workers,
            f"  tune.pipesize {1024 * 1024}\n  maxpipes 900",
            "  option splice-request\n  option splice-response",
        ),
        "nginx": lambda name, port: nginx(folder, name, port, names, workers, ""),
        "nginx-62k": lambda name, port: nginx(folder, name, port, names, workers, f"    proxy_buffer_size {big};\n"),
        "sniproxy": lambda name, port: sniproxy(folder, name, port, names),
    }
    return [makers[name](name, 6000 + i) for i, name in enumerate(makers) if name in wanted]
