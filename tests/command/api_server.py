# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes API server with etcd and the controller manager, on loopback, for as long as a test run."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHARED_CRDS = ROOT.parent / "shared/crds"  # of other projects, beside this clone; tests that need them skip without
MANAGER = "hcpnet"


def tool(name: str) -> str:
    """Where scripts/tools.sh has put a program; the test fails when it has not."""
    script = f"source scripts/tools.sh && tool_path {name}"
    path = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    assert os.access(path, os.X_OK), f"{name} is not installed: run scripts/tools.sh {name}"
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class ApiServer:
    """The three processes, and kubectl as an administrator. `admission` names plugins beside those of every server."""

    def __init__(self, folder: Path, *admission: str) -> None:
        self.folder = folder
        self.admission = admission
        self.processes: list[subprocess.Popen[bytes]] = []
        self.kubectl_path = tool("kubectl")
        self.port = free_port()
        try:
            self._make_keys()
            self._start()
        except BaseException:
            self.stop()
            raise

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def _make_keys(self) -> None:
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self._openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test", "-days", "2")
        for name, subject, more in (
            ("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:api.blue.example.com"),
            ("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth"),
        ):
            self._openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
            (self.folder / f"{name}.ext").write_text(more + "\n")
            sign = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext"]
            self._openssl("x509", "-req", "-in", f"{name}.csr", *sign, "-out", f"{name}.crt")
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key")
        config: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [
                {"name": "test", "cluster": {"server": self.url, "certificate-authority": self._path("ca.crt")}}
            ],
            "users": [
                {
                    "name": "admin",
                    "user": {"client-certificate": self._path("admin.crt"), "client-key": self._path("admin.key")},
                }
            ],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        }
        (self.folder / "kubeconfig").write_text(json.dumps(config))

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def _path(self, name: str) -> str:
        return str(self.folder / name)

    def _run(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([tool(name), *arguments], stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)

    def _start(self) -> None:
        client, peer = free_port(), free_port()
        etcd = f"http://127.0.0.1:{client}"
        self._run(
            "etcd",
            *("--data-dir", self._path("etcd"), "--unsafe-no-fsync"),
            *("--heartbeat-interval", "50", "--election-timeout", "500"),
            *("--listen-client-urls", etcd, "--advertise-client-urls", etcd),
            *("--listen-peer-urls", f"http://127.0.0.1:{peer}"),
            *("--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}"),
            *("--initial-cluster", f"default=http://127.0.0.1:{peer}"),
        )
        self._run(
            "kube-apiserver",
            *("--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"),
            *("--secure-port", str(self.port), "--client-ca-file", "ca.crt"),
            *("--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key"),
            *("--service-account-issuer", "https://127.0.0.1/", "--service-account-key-file", "accounts.key"),
            *("--service-account-signing-key-file", "accounts.key", "--authorization-mode", "RBAC"),
            *("--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount"),
            *("--allow-privileged=true", "--endpoint-reconciler-type=none", "--cert-dir", self._path("certs")),
            *(f"--enable-admission-plugins={name}" for name in self.admission),
        )
        self._wait_ready()
        self._run(
            "kube-controller-manager",
            *("--kubeconfig", "kubeconfig", "--bind-address", "127.0.0.1", "--secure-port", str(free_port())),
            "--leader-elect=false",
            "--controllers=garbage-collector-controller,endpointslice-controller,namespace-controller,"
            "serviceaccount-controller",
            *("--service-account-private-key-file", "accounts.key", "--root-ca-file", "ca.crt"),
            *("--cert-dir", self._path("certs")),
        )

    def _wait_ready(self) -> None:
        context = ssl.create_default_context(cafile=self._path("ca.crt"))
        context.load_cert_chain(self._path("admin.crt"), self._path("admin.key"))
        deadline = time.monotonic() + 180
        while True:
            assert all(p.poll() is None for p in self.processes), self._logs()
            assert time.monotonic() < deadline, self._logs()
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=5, context=context):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)

    def _logs(self) -> str:
        return "\n".join(log.read_text(errors="replace")[-2000:] for log in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def kubectl(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [self.kubectl_path, "--kubeconfig", self._path("kubeconfig"), *arguments]
        env = {**os.environ, "HOME": str(self.folder)}
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300, env=env)

    def apply(self, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Server-side apply as hcpnet, every unknown field an error."""
        words = ["apply", "--server-side", "--field-manager", MANAGER, "--validate=strict", "-f", "-", "-o", "json"]
        return self.kubectl(*words, *arguments, stdin=text)

    def load_crds(self, *paths: Path) -> None:
        words = [word for path in paths for word in ("-f", str(path))]
        done = self.kubectl("apply", "--server-side", *words)
        assert done.returncode == 0, done.stderr
        done = self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s")
        assert done.returncode == 0, done.stderr
