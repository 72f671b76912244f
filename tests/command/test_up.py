# SPDX-License-Identifier: Apache-2.0
"""`hcpnet up` and the commands that ask it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from hcpnet_command import NETWORK, PORT_MAPS, Hcpnet, wait_until


def query(server: tuple[str, int], name: str) -> tuple[int, bytes]:
    """RCODE and the last four bytes of the reply: the address, where there is one."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.83.0.200", 0))
        client.settimeout(10)
        client.sendto(struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1", server)
        reply = client.recv(512)
    return reply[3] & 15, reply[-4:]


def wait_for_count(hcpnet: Hcpnet, process: subprocess.Popen[str], counter: str, above: int) -> None:
    """Until a counter of `hcpnet status` has grown; for as long as the process lives, and 30 s at most."""
    deadline = time.monotonic() + 30
    while hcpnet.ask("status")[counter] <= above:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, counter


def test_serves_until_it_is_told_to_stop(hcpnet: Hcpnet) -> None:
    process = hcpnet.up()
    assert query(hcpnet.bound("dns", 53), "api.blue.example.com") == (0, bytes([127, 83, 0, 4]))
    assert hcpnet.ask("leases", "list") == {"leases": []}
    (route,) = hcpnet.ask("route", "konnectivity.blue.example.com", "--port", "443")["routes"]
    assert route["backend"] == "blue-konnectivity-server"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=15) == 0
    assert not (hcpnet.state / "admin.sock").exists()
    assert hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 1


def test_the_port_that_the_system_chose_is_told(hcpnet: Hcpnet) -> None:
    process = hcpnet.up("--observe", "127.0.0.1:0", "--admin-tcp", "127.0.0.1:0", "--log-format", "json")
    ports = {service: hcpnet.bound(service, 0)[1] for service in ("observe", "admin")}
    process.send_signal(signal.SIGTERM)
    log = [json.loads(line) for line in process.communicate(timeout=15)[1].splitlines()]
    for service, port in ports.items():
        assert port != 0
        assert any(line.get("service") == service and line.get("address") == f"127.0.0.1:{port}" for line in log), log


def test_state_is_private(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    assert hcpnet.state.stat().st_mode & 0o777 == 0o700
    assert (hcpnet.state / "admin.sock").stat().st_mode & 0o777 == 0o600
    assert (hcpnet.state / "leases.db").stat().st_mode & 0o777 == 0o600


def test_state_directory_of_the_service_manager_is_the_default(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    done = subprocess.run(
        [hcpnet.command, "status"],
        capture_output=True,
        text=True,
        env={**os.environ, "STATE_DIRECTORY": str(hcpnet.state)},
    )
    assert done.returncode == 0, done.stderr


def test_reload_by_command_signal_and_change(hcpnet: Hcpnet) -> None:
    process = hcpnet.up("--no-watch")
    hcpnet.network.write_text(NETWORK.replace("blue", "green"))
    assert query(hcpnet.bound("dns", 53), "api.green.example.com")[0] != 0, "nobody told it yet"
    done = hcpnet("reload", "--state-dir", str(hcpnet.state))
    assert done.returncode == 0
    assert done.stdout.endswith("reloaded\n")
    assert query(hcpnet.bound("dns", 53), "api.green.example.com")[0] == 0
    hcpnet.network.write_text(NETWORK.replace("blue", "red"))
    process.send_signal(signal.SIGHUP)
    while hcpnet.ask("status")["reloads"] < 2:
        assert process.poll() is None
    assert query(hcpnet.bound("dns", 53), "api.red.example.com")[0] == 0


def test_a_bad_file_keeps_the_old_state_and_says_why(hcpnet: Hcpnet) -> None:
    hcpnet.up("--no-watch")
    hcpnet.network.write_text(NETWORK.replace("gateway", "gatway"))
    done = hcpnet("reload", "--state-dir", str(hcpnet.state))
    assert done.returncode == 1
    assert "unknown-field" in done.stdout
    assert "the old state stays" in done.stdout
    assert query(hcpnet.bound("dns", 53), "api.blue.example.com")[0] == 0


def test_a_changed_file_is_noticed(hcpnet: Hcpnet) -> None:
    process = hcpnet.up()
    new = hcpnet.folder / "network.yaml.new"
    new.write_text(NETWORK.replace("blue", "green"))
    new.rename(hcpnet.network)
    while hcpnet.ask("status")["reloads"] < 1:
        assert process.poll() is None
    assert query(hcpnet.bound("dns", 53), "api.green.example.com")[0] == 0


def test_a_taken_port_is_named_and_nothing_is_served(hcpnet: Hcpnet) -> None:
    with socket.socket() as taken:
        taken.bind(("127.83.0.4", 0))
        taken.listen()
        port = taken.getsockname()[1]
        maps = [word if word != "443=0" else f"443={port}" for word in PORT_MAPS]
        done = hcpnet("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *maps)
    assert done.returncode == 1
    assert f"127.83.0.4:{port}" in done.stderr
    assert "in use" in done.stderr


def test_two_processes_do_not_share_a_state_directory(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    done = hcpnet("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS)
    assert done.returncode == 1
    assert "is in use by another process" in done.stderr
    assert f"admin socket {hcpnet.state}/admin.sock" in done.stderr, "all that the other one has is named"
    assert hcpnet.ask("status")["troubles"] == []


def test_tells_the_service_manager(hcpnet: Hcpnet) -> None:
    path = hcpnet.folder / "notify.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(20)
        process = hcpnet.up(env={"NOTIFY_SOCKET": str(path)})
        assert manager.recv(1000) == b"READY=1"
        process.send_signal(signal.SIGHUP)
        assert manager.recv(1000).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert manager.recv(1000) == b"READY=1"
        process.send_signal(signal.SIGTERM)
        assert manager.recv(1000) == b"STOPPING=1"


def test_logs_json_lines(hcpnet: Hcpnet) -> None:
    process = hcpnet.up("--log-format", "json")
    process.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in process.communicate(timeout=15)[1].splitlines()]
    listening = [line for line in lines if line["message"] == "listening"]
    assert {line["service"] for line in listening} == {"dhcp", "dns", "proxy"}
    assert all({"time", "level", "component", "message"} <= line.keys() for line in lines)


def test_numbers_in_json_lines_are_numbers(hcpnet: Hcpnet) -> None:
    process = hcpnet.up("--log-format", "json", "--no-watch", "--map-port", "8443=0")
    assert hcpnet("reload", "--state-dir", str(hcpnet.state)).returncode == 0
    process.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in process.communicate(timeout=15)[1].splitlines()]
    assert [type(line["warnings"]) for line in lines if line["message"] == "reloaded"] == [int]
    assert [line["port"] for line in lines if line["message"].startswith("no listener has this port")] == [8443]


def test_a_start_that_fails_ends_in_json_lines_too(hcpnet: Hcpnet) -> None:
    words = ("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS, "--log-format", "json")

    def last_words(*arguments: str) -> tuple[int, list[dict[str, str]]]:
        done = hcpnet(*words, *arguments)
        return done.returncode, [json.loads(line) for line in done.stderr.splitlines()]

    status, lines = last_words("--pod-address", "nowhere")
    assert (status, [line["level"] for line in lines]) == (2, ["error"])
    assert "--pod-address" in lines[0]["reason"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        page = f"127.0.0.1:{taken.getsockname()[1]}"
        status, lines = last_words("--observe", page)
    assert (status, lines[-1]["message"]) == (1, "failed")
    assert page in lines[-1]["reason"]
    hcpnet.network.write_text(NETWORK.replace("gateway", "gatway"))
    status, lines = last_words()
    assert status == 1
    assert any("[unknown-field]" in line.get("problem", "") for line in lines)


def test_a_stale_admin_socket_is_replaced(hcpnet: Hcpnet) -> None:
    process = hcpnet.up()
    process.kill()
    process.wait()
    assert Path(hcpnet.state / "admin.sock").exists()
    hcpnet.up()


def test_drains_and_writes_an_access_log(hcpnet: Hcpnet) -> None:
    log = hcpnet.folder / "access.log"
    hcpnet.up("--access-log", str(log))
    host, port = hcpnet.bound("proxy", 443)
    with socket.create_connection((host, port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert client.recv(1) == b""
    deadline = time.monotonic() + 10
    while "not_tls" not in log.read_text():
        assert time.monotonic() < deadline
    done = hcpnet("drain", "--state-dir", str(hcpnet.state))
    assert (done.returncode, done.stdout) == (0, "draining, 0 connections open\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, port))
    assert any("draining" in trouble for trouble in hcpnet.ask("status")["troubles"])


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_an_access_log_may_be_rotated(hcpnet: Hcpnet, is_made_anew: bool) -> None:
    """By logrotate without "create", and with it."""
    log = hcpnet.folder / "access.log"
    hcpnet.up("--access-log", str(log))
    place = hcpnet.bound("proxy", 443)

    def is_written() -> bool:
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(1) == b""
        return log.exists() and "not_tls" in log.read_text()

    wait_until(is_written)
    log.rename(hcpnet.folder / "access.log.1")
    if is_made_anew:
        log.touch()
    wait_until(is_written)


def test_an_access_log_that_is_a_fifo_holds_nothing_up(hcpnet: Hcpnet) -> None:
    log = hcpnet.folder / "access.log"
    os.mkfifo(log)
    words = ("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS, "--access-log", str(log))
    done = hcpnet(*words)
    assert done.returncode == 1
    assert f"access log: cannot write to {log}: No such device or address" in done.stderr
    log.unlink()
    process = hcpnet.up("--access-log", str(log))
    place = hcpnet.bound("proxy", 443)
    log.unlink()
    os.mkfifo(log)
    looked_again = time.monotonic() + 1.5
    while time.monotonic() < looked_again:
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(1) == b""
        time.sleep(0.05)
    assert hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0
    wait_for_log(process, "the access log goes on in the file that was there before")
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)  # somebody who reads gets the lines

    def is_read() -> bool:
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(1) == b""
        with contextlib.suppress(BlockingIOError):
            return b"not_tls" in os.read(reader, 65536)
        return False

    try:
        wait_until(is_read)
    finally:
        os.close(reader)


@pytest.mark.parametrize(("only", "served"), [(["dns"], {"dns"}), (["dns", "proxy"], {"dns", "proxy"})])
def test_serves_only_its_part(hcpnet: Hcpnet, only: list[str], served: set[str]) -> None:
    hcpnet.up(*[word for part in only for word in ("--only", part)])
    assert {x["service"] for x in hcpnet.ask("status")["listeners"]} - {"admin"} == served


def test_a_set_that_serves_nothing_does_not_start(hcpnet: Hcpnet) -> None:
    words = ("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS)
    hcpnet.network.write_text(NETWORK.partition("  infraComponents")[0])
    done = hcpnet(*words)
    assert done.returncode == 1
    assert "the set has no DHCP, no DNS, no proxy (" in done.stderr
    hcpnet.network.write_text("".join(line for line in NETWORK.splitlines(keepends=True) if "dhcp:" not in line))
    done = hcpnet(*words, "--only", "dhcp")
    assert done.returncode == 1
    assert "the set has no DHCP (" in done.stderr


def test_an_edit_that_a_server_refuses_ends_nothing(hcpnet: Hcpnet) -> None:
    """Each of these is right for `hcpnet check`."""
    process = hcpnet.up()
    address, port = hcpnet.bound("dns", 53)
    own_server = f"networkAttachmentDefinition: vlan, dnsServers: ['{address}:{port}']"
    for edited in (
        NETWORK.replace("networkAttachmentDefinition: vlan", own_server),
        NETWORK.replace("0/24", "0/25").replace("149", "120"),
    ):
        refused = hcpnet.ask("status")["reloadsRefused"]
        hcpnet.network.write_text(edited.replace("blue", "green"))
        assert hcpnet("check", str(hcpnet.network)).returncode == 0
        wait_for_count(hcpnet, process, "reloadsRefused", refused)
        done = hcpnet("reload", "--state-dir", str(hcpnet.state))
        assert done.returncode == 1
        assert "the old state stays" in done.stdout
        process.send_signal(signal.SIGHUP)
        assert query((address, port), "api.blue.example.com")[0] == 0
    hcpnet.network.write_text(NETWORK.replace("blue", "green"))
    wait_for_count(hcpnet, process, "reloads", 0)
    assert query((address, port), "api.green.example.com")[0] == 0


def wait_for_log(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr
    assert any(words in line for line in process.stderr), f"the log ends without {words}"


def test_a_second_signal_ends_it_while_a_file_does_not_come(hcpnet: Hcpnet) -> None:
    """A reload waits for a pipe that it was given, as it may for a file of a network that is away."""
    fifo = hcpnet.folder / "network.fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        writer = os.open(fifo, os.O_WRONLY)
        os.write(writer, NETWORK.encode())
        os.close(writer)
        words = ["up", f"/proc/self/fd/{reader}", "--no-watch", "--state-dir", str(hcpnet.state), *PORT_MAPS]
        process = subprocess.Popen([hcpnet.command, *words], stderr=subprocess.PIPE, text=True, pass_fds=[reader])
        hcpnet.processes.append(process)
        wait_until(lambda: hcpnet("status", "--state-dir", str(hcpnet.state)).returncode == 0)
        writer = os.open(fifo, os.O_WRONLY)
        try:
            process.send_signal(signal.SIGHUP)
            wait_for_log(process, "SIGHUP")
            process.send_signal(signal.SIGTERM)
            wait_for_log(process, "stopping")
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=15) == 0
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def test_the_end_is_in_the_log(hcpnet: Hcpnet) -> None:
    process = hcpnet.up()
    process.send_signal(signal.SIGTERM)
    log = process.communicate(timeout=15)[1]
    assert log.index("SIGTERM") < log.index("stopping") < log.index("stopped")


def test_a_taken_port_is_named_in_plain_words(hcpnet: Hcpnet) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        page = f"127.0.0.1:{taken.getsockname()[1]}"
        done = hcpnet("up", str(hcpnet.network), "--state-dir", str(hcpnet.state), *PORT_MAPS, "--observe", page)
    assert done.returncode == 1
    assert done.stderr.endswith(f"HTTP on {page}: Address already in use\n"), done.stderr


def test_status_shows_a_refused_reload(hcpnet: Hcpnet) -> None:
    hcpnet.up("--no-watch")
    hcpnet.network.write_text(NETWORK.replace("gateway", "gatway"))
    assert hcpnet("reload", "--state-dir", str(hcpnet.state)).returncode == 1
    status = hcpnet("status", "--state-dir", str(hcpnet.state)).stdout
    assert ": refused\n" in status
    assert "trouble: the files are not what is served" in status
    last = hcpnet.ask("status")["lastReload"]
    assert not last["applied"]
    assert "unknown-field" in {d["code"] for d in last["diagnostics"]}
