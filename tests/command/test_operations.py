# SPDX-License-Identifier: Apache-2.0
"""What happens to a running `hcpnet up` in the field: full disks, busy folders, lost files, too few descriptors."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hcpnet_command import NETWORK, PORT_MAPS, Hcpnet, wait_until

HELLO = b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + bytes(32) + b"\0\0\2\x13\x01\1\0\0\0"  # names no server
ROUTED = ("api.blue.example.com", "--port", "6443")


def write(path: Path, text: str) -> None:
    """As an editor does."""
    new = path.with_name("new")
    new.write_text(text)
    new.rename(path)


def target(hcpnet: Hcpnet) -> list[str]:
    (route,) = hcpnet.ask("route", *ROUTED)["routes"]
    targets: list[str] = route["targets"]
    return targets


def test_objects_of_one_name_need_a_process_each(hcpnet: Hcpnet) -> None:
    single = """\
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: vlan, namespace: hcp}
spec:
  networkConfig: {serverIP: 127.84.0.3, proxyIP: 127.84.0.4}
  hostedClusterDomain: red.example.com
"""
    hcpnet.network.write_text(NETWORK + "---\n" + single)
    done = hcpnet("check", str(hcpnet.network))
    assert done.returncode == 1
    assert "[same-name]" in done.stdout
    assert f"{hcpnet.network}:" in done.stdout


WORKERS = """\
---
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {name: workers, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan}, workers: 2}
"""


def test_two_processes_do_not_share_the_port_of_a_proxy(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(NETWORK + WORKERS)
    hcpnet.up("--only", "proxy")
    address, port = hcpnet.bound("proxy", 443)
    second = hcpnet(
        *("up", str(hcpnet.network), "--only", "proxy", "--state-dir", str(hcpnet.folder / "other")),
        *("--map-port", f"443={port}", "--map-port", "6443=0"),
    )
    assert second.returncode == 1
    assert f"cannot listen on {address}:{port}: Address already in use" in second.stderr


def test_a_service_that_nothing_serves_closes_at_once(hcpnet: Hcpnet) -> None:
    endpoints = hcpnet.folder / "endpoints.yaml"
    endpoints.write_text("clusters-blue/kube-apiserver:6443: []\n")
    files = [str(hcpnet.network), "--endpoints", str(endpoints)]
    assert "nothing serves it" in hcpnet("route", *ROUTED, *files).stdout
    log = hcpnet.folder / "access.log"
    hcpnet.up("--endpoints", str(endpoints), "--access-log", str(log))
    with socket.create_connection(hcpnet.bound("proxy", 6443), timeout=10) as client:
        client.sendall(HELLO)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
    wait_until(lambda: "no_endpoint" in log.read_text())


@pytest.mark.parametrize("option", ["specs", "endpoints"])
def test_a_reload_keeps_what_can_be_read_once(hcpnet: Hcpnet, option: str) -> None:
    """As a shell gives it: up network.yaml --endpoints <(command)."""
    reader, writer = os.pipe()
    text = NETWORK if option == "specs" else "clusters-blue/kube-apiserver:6443: ['198.51.100.7:6443']\n"
    os.write(writer, text.encode())
    os.close(writer)
    full = [hcpnet.command, "up", "--state-dir", str(hcpnet.state), *PORT_MAPS]
    other = hcpnet.folder / "other.yaml"
    if option == "specs":
        other.write_text("clusters-blue/kube-apiserver:6443: ['198.51.100.7:6443']\n")
        full += [f"/dev/fd/{reader}", "--endpoints", str(other)]
    else:
        full += [str(hcpnet.network), "--endpoints", f"/dev/fd/{reader}"]
    process = subprocess.Popen(full, stderr=subprocess.PIPE, text=True, pass_fds=[reader])
    hcpnet.processes.append(process)
    os.close(reader)
    wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
    for _ in range(2):
        done = hcpnet("reload", "--state-dir", str(hcpnet.state))
        assert (done.returncode, done.stderr) == (0, "")
        assert target(hcpnet) == ["198.51.100.7:6443"]
    if option == "specs":  # what can be read again is
        write(other, "clusters-blue/kube-apiserver:6443: ['198.51.100.8:6443']\n")
        wait_until(lambda: target(hcpnet) == ["198.51.100.8:6443"])


def test_a_busy_folder_does_not_put_a_reload_off(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    is_over = threading.Event()

    def make_noise() -> None:
        while not is_over.is_set():
            (hcpnet.folder / "noise").write_text("x")
            (hcpnet.folder / "noise").unlink()
            is_over.wait(0.02)

    noise = threading.Thread(target=make_noise)
    noise.start()
    try:
        write(hcpnet.network, NETWORK.replace("blue", "green"))
        wait_until(lambda: hcpnet.ask("status")["reloads"] > 0)
    finally:
        is_over.set()
        noise.join()


def test_a_file_behind_a_link_is_watched(hcpnet: Hcpnet) -> None:
    for folder in ("one", "two"):
        (hcpnet.folder / folder).mkdir()
        (hcpnet.folder / folder / "real.yaml").write_text(NETWORK)
    hcpnet.network.unlink()
    hcpnet.network.symlink_to("one/real.yaml")
    hcpnet.up()

    def backend() -> str:
        (route,) = hcpnet.ask("route", "", "--port", "6443", "--from", "127.83.0.9")["routes"]
        name: str = route["backend"]
        return name

    (hcpnet.folder / "one/real.yaml").write_text(NETWORK.replace("blue", "green"))
    wait_until(lambda: backend() == "green-kube-apiserver")
    link = hcpnet.folder / "link"
    link.symlink_to("two/real.yaml")
    link.rename(hcpnet.network)
    wait_until(lambda: backend() == "blue-kube-apiserver")
    write(hcpnet.folder / "two/real.yaml", NETWORK.replace("blue", "red"))
    wait_until(lambda: backend() == "red-kube-apiserver")


def test_a_link_in_a_folder_is_watched(hcpnet: Hcpnet) -> None:
    for folder in ("real", "specs"):
        (hcpnet.folder / folder).mkdir()
    (hcpnet.folder / "real/network.yaml").write_text(NETWORK)
    (hcpnet.folder / "specs/network.yaml").symlink_to("../real/network.yaml")
    hcpnet.network = hcpnet.folder / "specs"
    hcpnet.up()
    (hcpnet.folder / "real/network.yaml").write_text(NETWORK.replace("blue", "green"))
    wait_until(lambda: hcpnet.ask("status")["reloads"] > 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="root: a file system of its own that is full")
def test_the_access_log_goes_on_when_there_is_room_again(hcpnet: Hcpnet) -> None:
    small = hcpnet.folder / "small"
    small.mkdir()
    log = small / "access.log"
    script = f'mount -t tmpfs -o size=16k none {small} && exec "$@"'
    full = ["unshare", "--mount", "sh", "-c", script, "sh", hcpnet.command, "up", str(hcpnet.network)]
    full += ["--state-dir", str(hcpnet.state), *PORT_MAPS, "--access-log", str(log)]
    process = subprocess.Popen(full, stderr=subprocess.PIPE, text=True)
    hcpnet.processes.append(process)
    wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
    inside = Path(f"/proc/{process.pid}/root{small}")
    place = hcpnet.bound("proxy", 443)

    def connect() -> None:
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(1) == b""

    connect()
    wait_until(lambda: "not_tls" in (inside / "access.log").read_text())
    with contextlib.suppress(OSError), (inside / "fill").open("wb", buffering=0) as fill:
        while True:
            fill.write(bytes(4096))
    for _ in range(60):
        connect()
    (inside / "fill").unlink()
    before = len((inside / "access.log").read_text())
    connect()
    wait_until(lambda: len((inside / "access.log").read_text()) > before)
    lines = (inside / "access.log").read_text().splitlines()
    assert lines[-1].count("not_tls") == 1, lines[-2:]
    process.send_signal(signal.SIGTERM)
    written = process.communicate(timeout=15)[1]
    assert written.count("lines of the access log are lost") == 1, written
    assert written.count("the access log is written again") == 1, written


def test_the_state_directory_stays_taken_without_its_socket(hcpnet: Hcpnet) -> None:
    first = hcpnet.up("--only", "proxy")
    (hcpnet.state / "admin.sock").unlink()
    second = hcpnet("up", str(hcpnet.network), "--only", "proxy", "--state-dir", str(hcpnet.state), *PORT_MAPS)
    assert second.returncode == 1
    assert "another process has it" in second.stderr
    (hcpnet.state / "handover.sock").unlink()
    (hcpnet.state / "handover.sock").write_text("somebody else's")
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=15) == 0
    assert (hcpnet.state / "handover.sock").read_text() == "somebody else's"
    (hcpnet.state / "handover.sock").unlink()
    hcpnet.up("--only", "proxy")


def test_without_descriptors_the_admin_page_waits_between_tries(hcpnet: Hcpnet) -> None:
    full = ["prlimit", "--nofile=48:48", hcpnet.command, "up", str(hcpnet.network)]
    process = subprocess.Popen([*full, "--state-dir", str(hcpnet.state), *PORT_MAPS], stderr=subprocess.PIPE, text=True)
    hcpnet.processes.append(process)
    wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
    path = str(hcpnet.state / "admin.sock")
    silent = []
    for _ in range(60):
        silent.append(socket.socket(socket.AF_UNIX))
        silent[-1].connect(path)
    began = time.monotonic()
    time.sleep(0.5)  # for as long as it could spin
    for client in silent:
        client.close()
    wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        page = b"".join(iter(lambda: client.recv(65536), b"")).decode()
    counted = re.search(r'^hcpnet_http_accept_backoffs_total\{page="admin"\} (\d+)$', page, re.M)
    assert counted, page
    # Each failure to accept is followed by 100 ms of rest.
    assert 0 < int(counted[1]) <= 10 * (time.monotonic() - began) + 2


@pytest.mark.parametrize("option", [["--map-port", "67=0"], ["--only", "dns"], ["--pod-address", "127.84.0.9"]])
def test_files_may_stand_between_options(hcpnet: Hcpnet, option: list[str]) -> None:
    """Each of these options takes one word; the file after it is not a second one."""
    done = hcpnet(
        "up", *option, str(hcpnet.network), "--endpoints", str(hcpnet.folder / "none"), "--state-dir", str(hcpnet.state)
    )
    assert done.returncode == 1
    assert f"{hcpnet.folder / 'none'}: error: can't be read" in done.stderr


def test_output_that_cannot_be_written_is_a_failure(hcpnet: Hcpnet) -> None:
    for words in (["check", str(hcpnet.network), "-o", "json"], ["version"], ["completion"], ["--help"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([hcpnet.command, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (1, "hcpnet: standard output can't be written\n"), words


def test_head_is_get_without_the_content(hcpnet: Hcpnet) -> None:
    hcpnet.up("--observe", "127.0.0.1:0")
    connection = http.client.HTTPConnection(*hcpnet.bound("observe", 0), timeout=10)
    for path in ("/healthz", "/metrics"):
        connection.request("HEAD", path)
        head = connection.getresponse()
        assert head.read() == b""
        assert head.status == 200
        connection.request("GET", path)
        get = connection.getresponse()
        assert get.status == 200
        assert len(get.read()) > 0
        assert get.getheader("Content-Type") == head.getheader("Content-Type")
    connection.close()


def test_a_port_that_is_taken_is_said_in_plain_words(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(proxy_server(2))
    hcpnet.up("--no-watch")
    with socket.create_server(("127.83.0.9", 0)) as taken:
        port = taken.getsockname()[1]
        write(hcpnet.network, proxy_server(2, f"  - {{name: c, hostname: c.example.com, port: {port}, {TARGET}}}\n"))
        done = hcpnet("reload", "--state-dir", str(hcpnet.state))
    assert done.returncode == 1
    assert "Address already in use" in done.stdout
    assert "/usr/include" not in done.stdout
    assert "[system:" not in done.stdout


TARGET = "targetService: svc, targetPort: 443, targetNamespace: ns"


def proxy_server(count: int, more: str = "") -> str:
    backends = "".join(
        f"  - {{name: b{number}, hostname: b{number}.example.com, port: {15600 + number}, {TARGET}}}\n"
        for number in range(count)
    )
    return (
        "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: ProxyServer\n"
        "metadata: {name: p, namespace: ns}\nspec:\n"
        f"  networkConfig: {{serverIP: 127.83.0.9}}\n  backends:\n{backends}{more}"
    )


def test_route_shows_every_listener_of_a_port(hcpnet: Hcpnet) -> None:
    udp = f"  - {{name: u, hostname: u.example.com, port: 15600, protocol: UDP, {TARGET}}}\n"
    for text in (proxy_server(1, udp), proxy_server(0, udp) + proxy_server(1).partition("backends:\n")[2]):
        hcpnet.network.write_text(text)
        done = hcpnet("route", "", "--port", "15600", str(hcpnet.network))
        assert done.returncode == 0
        assert "127.83.0.9:15600: closed (no_match)" in done.stdout
        assert "127.83.0.9:15600/UDP: u " in done.stdout


@pytest.mark.parametrize(
    ("addresses", "status", "reason"),
    [
        (["127.84.0.9", "127.84.0.9"], 2, "127.84.0.9 is given twice"),
        (["0.0.0.0"], 2, "0.0.0.0 is not the address of a host"),
        (["224.0.0.1"], 2, "224.0.0.1 is not the address of a host"),
        (["127.83.0.4"], 1, "127.83.0.4 is the address on the VLAN of hcp/vlan [bad-pod-address]"),
    ],
)
def test_pod_addresses_are_those_of_a_host(hcpnet: Hcpnet, addresses: list[str], status: int, reason: str) -> None:
    words = [word for address in addresses for word in ("--pod-address", address)]
    done = hcpnet("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS, *words)
    assert done.returncode == status
    assert reason in done.stderr
    assert str(hcpnet.network) not in done.stderr


def is_open(place: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(place) == 0


def test_a_reload_asked_for_at_the_end_cuts_no_tunnel(hcpnet: Hcpnet) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        endpoints = hcpnet.folder / "endpoints.yaml"
        endpoints.write_text(f"clusters-blue/kube-apiserver:6443: ['{host}:{port}']\n")
        process = hcpnet.up("--endpoints", str(endpoints))
        place = hcpnet.bound("proxy", 6443)
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(HELLO)
            server.settimeout(10)
            backend, _ = server.accept()
            with backend:
                assert backend.recv(1000) == HELLO
                process.send_signal(signal.SIGTERM)
                wait_until(lambda: not is_open(place))
                process.send_signal(signal.SIGHUP)
                time.sleep(0.2)  # in which it could end
                backend.sendall(b"still there")
                assert client.recv(100) == b"still there"
        assert process.wait(timeout=15) == 0


def test_names_of_files_send_nothing_to_the_terminal(hcpnet: Hcpnet) -> None:
    done = hcpnet("check", "bad\nname\x1b[31m.yaml")
    assert "bad\\x0aname\\x1b[31m.yaml: " in done.stdout
    assert hcpnet("check", "").stdout.startswith('"": error: ')


def test_without_a_home_the_state_directory_has_to_be_given(hcpnet: Hcpnet) -> None:
    env = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_STATE_HOME", "STATE_DIRECTORY")}
    done = subprocess.run([hcpnet.command, "status"], capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 1
    assert "give --state-dir" in done.stderr


def dhcp_message(kind: int, options: bytes = b"") -> bytes:
    header = struct.pack("!BBBBIHH16s16s192s", 1, 1, 6, 0, 0x4843, 0, 0, b"", bytes.fromhex("020000000001"), b"")
    return header + b"\x63\x82\x53\x63" + bytes([53, 1, kind]) + options + b"\xff"


def test_a_trace_shows_the_sync_before_the_ack(hcpnet: Hcpnet) -> None:
    trace = hcpnet.folder / "trace"
    calls = "fsync,fdatasync,recvfrom,recvmsg,recvmmsg,sendto,sendmsg,sendmmsg"
    full = ["strace", "-D", "-f", "-xx", "-s", "400", "-e", f"trace={calls}", "-o", str(trace)]
    full += [hcpnet.command, "up", str(hcpnet.network), "--only", "dhcp", "--state-dir", str(hcpnet.state), *PORT_MAPS]
    process = subprocess.Popen(full, stderr=subprocess.PIPE, text=True)
    hcpnet.processes.append(process)
    wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
    server = hcpnet.bound("dhcp", 67)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.83.0.200", 0))
        client.settimeout(30)
        client.sendto(dhcp_message(1), server)
        offered = client.recv(1500)[16:20]
        client.sendto(dhcp_message(3, b"\x32\x04" + offered + b"\x36\x04" + socket.inet_aton(server[0])), server)
        assert b"\x35\x01\x05" in client.recv(1500)
    process.terminate()
    process.wait(timeout=30)
    wait_until(lambda: "+++ exited with" in trace.read_text().splitlines()[-1])
    lines = trace.read_text().splitlines()

    def first(pattern: str, start: int = 0) -> int:
        for number, line in enumerate(lines[start:], start):
            if re.search(pattern, line):
                return number
        raise AssertionError((pattern, lines[start:]))

    request = first(r"recv.*\\x63\\x82\\x53\\x63\\x35\\x01\\x03")
    ack = first(r"send.*\\x63\\x82\\x53\\x63\\x35\\x01\\x05", request)
    synced = first(r"(fsync|fdatasync)(\(.*\)| resumed>\)) += 0$", request)
    assert request < synced < ack
