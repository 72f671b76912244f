# SPDX-License-Identifier: Apache-2.0
"""A process takes over from another one, and what happens when either dies midway."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hcpnet_command import PORT_MAPS, Hcpnet, wait_until
from proxy_bed import Bed, Echo, Load, Tunnel, stop
from test_up import query

StartLoad = Callable[[tuple[str, int]], Load]


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def bed(hcpnet: Hcpnet, echo: Echo) -> Bed:
    return Bed(hcpnet, echo.port)


@pytest.fixture
def start_load() -> Iterator[StartLoad]:
    with contextlib.ExitStack() as running:
        yield lambda address: running.enter_context(Load(address))


class Successor:
    """The new process's side of the handover, step by step."""

    def __init__(self, bed: Bed) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(40)
        self.socket.connect(str(bed.hcpnet.state / "handover.sock"))

    def ask(self, question: str) -> str:
        self.socket.sendall(question.encode())
        text, descriptors, _, _ = socket.recv_fds(self.socket, 512, 1)
        for descriptor in descriptors:
            os.close(descriptor)
        return text.decode()

    def take_all(self) -> list[str]:
        answers = [self.ask("take 1")]
        while answers[-1] != "all":
            answers.append(self.ask("next"))
        return answers[:-1]

    def die(self) -> None:
        self.socket.close()

    def __enter__(self) -> Successor:
        return self

    def __exit__(self, *_: object) -> None:
        self.die()


def assert_old_one_goes_on(bed: Bed, load: Load) -> None:
    """It serves as before, until the next one takes over; the load ends."""
    assert bed.hcpnet.ask("leases", "list") == {"leases": []}
    load.go_on()
    bed.start("--takeover")
    load.go_on()
    load.stop()
    assert load.failures == []


@pytest.mark.parametrize(("before", "after"), [(1, 1), (3, 3), (3, 2), (1, 3)], ids=str)
def test_no_connection_is_lost(bed: Bed, start_load: StartLoad, before: int, after: int) -> None:
    bed.set_workers(before)
    old = bed.start()
    address, dns = bed.listener(), bed.hcpnet.bound("dns", 53)
    tunnels = [Tunnel(address) for _ in range(20)]
    load = start_load(address)
    load.go_on()
    bed.set_workers(after)
    new = bed.start("--takeover")
    bed.wait_for_log(0, "handed over")
    load.go_on()
    third = bed.start("--takeover")
    assert new.wait(timeout=30) == 0  # it had no long tunnels
    load.go_on()
    load.stop()
    assert load.failures == []
    assert bed.listener() == address
    assert bed.hcpnet.bound("dns", 53) == dns
    assert query(dns, "api.blue.example.com") == (0, bytes([127, 83, 0, 4]))
    assert old.poll() is None
    for tunnel in tunnels:
        tunnel.ask(b"still here")
        tunnel.close()
    assert old.wait(timeout=30) == 0
    assert stop(third) == 0
    assert list(bed.hcpnet.state.glob("*.sock")) == []


def test_tunnels_of_the_old_process_last_as_long_as_the_policy_has_it(bed: Bed) -> None:
    bed.set_workers(1)
    text = bed.hcpnet.network.read_text()
    bed.hcpnet.network.write_text(text.replace("workers: 1", "drainTimeoutSeconds: 1"))
    old = bed.start()
    tunnel = Tunnel(bed.listener())
    bed.start("--takeover")
    assert old.wait(timeout=30) == 0
    with pytest.raises((ConnectionResetError, AssertionError)):
        tunnel.ask(b"x")
    tunnel.socket.close()


def test_a_signal_shortens_the_draining(bed: Bed) -> None:
    old = bed.start()
    tunnel = Tunnel(bed.listener())
    bed.start("--takeover")
    tunnel.ask(b"x")
    assert stop(old) == 0
    tunnel.socket.close()
    Tunnel(bed.listener()).close()


def test_alone_where_nobody_runs(bed: Bed) -> None:
    bed.start("--takeover")
    Tunnel(bed.listener()).close()


def test_the_old_one_goes_on_when_the_new_one_fails(bed: Bed, start_load: StartLoad) -> None:
    bed.start()
    address = bed.listener()
    load = start_load(address)
    good = bed.hcpnet.network.read_text()
    bed.hcpnet.network.write_text(good.replace("gateway", "gatway"))
    assert bed.start("--takeover", wait=False).wait(timeout=30) == 1
    bed.hcpnet.network.write_text(good)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # fails after it has got all else
        page = f"127.0.0.1:{taken.getsockname()[1]}"
        assert bed.start("--takeover", "--observe", page, wait=False).wait(timeout=30) == 1
    bed.wait_for_log(0, "serving goes on")
    assert bed.listener() == address
    assert_old_one_goes_on(bed, load)


@pytest.mark.parametrize("last_word", ["take 1", "release"])
def test_a_new_process_that_is_killed_leaves_everything_to_the_old_one(
    bed: Bed, start_load: StartLoad, last_word: str
) -> None:
    bed.start()
    address = bed.listener()
    load = start_load(address)
    successor = Successor(bed)
    sockets = successor.take_all()
    assert {s.split(" ")[1] for s in sockets} == {"stream", "datagram"}
    assert "socket stream 127.83.0.4:6443" in sockets
    if last_word == "release":
        assert successor.ask("release") == "released"
        assert bed.hcpnet("status", "--state-dir", str(bed.hcpnet.state)).returncode == 1
    with Successor(bed) as other:
        assert other.ask("take 1") == "refused another process is taking over"
    successor.die()
    bed.wait_for_log(0, "serving goes on")
    assert_old_one_goes_on(bed, load)


def test_reloads_wait_for_the_end_of_a_handover(bed: Bed) -> None:
    bed.start()
    successor = Successor(bed)
    successor.take_all()
    done = bed.hcpnet("reload", "--state-dir", str(bed.hcpnet.state))
    assert done.returncode == 1
    assert "being-handed-over" in done.stdout
    successor.die()
    bed.wait_for_log(0, "serving goes on")
    assert bed.hcpnet("reload", "--state-dir", str(bed.hcpnet.state)).returncode == 0


def test_a_wrong_word_ends_the_handover(bed: Bed) -> None:
    bed.start()
    for word in ("serving", "release", "take 2", "\0", "x" * 5000):
        with Successor(bed) as confused:
            assert confused.ask(word).startswith("refused given up")
    Tunnel(bed.listener()).close()


OLD = """\
import os, socket, sys
listener = socket.create_server((sys.argv[1], 0), backlog=16)
queue = socket.create_connection(listener.getsockname())
handover = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
handover.bind(sys.argv[2])
handover.listen()
print(listener.getsockname()[1], flush=True)
successor, _ = handover.accept()
while word := successor.recv(512).decode():
    if word == sys.argv[3]:
        os.kill(os.getpid(), 9)
    if word == "take 1":
        socket.send_fds(successor, [b"socket stream 127.83.0.4:6443"], [listener.fileno()])
    else:
        successor.sendall({"next": b"all", "release": b"released"}[word])
"""


@pytest.mark.parametrize("last_word", ["take 1", "next", "release", "serving"])
def test_a_new_process_carries_on_when_the_old_one_is_killed(bed: Bed, last_word: str) -> None:
    bed.hcpnet.state.mkdir(mode=0o700)
    words = [sys.executable, "-c", OLD, "127.83.0.4", str(bed.hcpnet.state / "handover.sock"), last_word]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as old:
        assert old.stdout
        port = int(old.stdout.readline())
        bed.start("--takeover")
        assert old.wait(timeout=30) == -signal.SIGKILL
    assert (bed.listener()[1] == port) == (last_word != "take 1")
    Tunnel(bed.listener()).close()


def test_a_killed_process_that_had_handed_nothing_over_is_replaced(bed: Bed) -> None:
    old = bed.start()
    old.send_signal(signal.SIGSTOP)
    new = bed.start("--takeover", wait=False)
    bed.wait_for_log(1, "taking over")
    old.kill()
    wait_until(lambda: bed.hcpnet("status", "--state-dir", str(bed.hcpnet.state)).returncode == 0, "it does not serve")
    assert new.poll() is None
    Tunnel(bed.listener()).close()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_new_process_that_is_kept_waiting_can_be_ended(bed: Bed, ending: signal.Signals) -> None:
    old = bed.start()
    old.send_signal(signal.SIGSTOP)
    new = bed.start("--takeover", wait=False)
    bed.wait_for_log(1, "taking over")
    new.send_signal(ending)
    assert new.wait(timeout=20) == 0
    old.send_signal(signal.SIGCONT)
    Tunnel(bed.listener()).close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_nobody_else_gets_the_sockets(bed: Bed) -> None:
    bed.start()
    path = bed.hcpnet.state / "handover.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o666)
    script = f"""\
import os, socket
os.chdir({str(path.parent)!r})
os.setgroups([])
os.setuid(65534)
stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
stranger.settimeout(30)
stranger.connect("handover.sock")
print(stranger.recv(100))
"""
    path.parent.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("b''\n", "")


def test_sockets_of_the_service_manager(bed: Bed) -> None:
    with socket.socket() as tls, socket.socket() as api:
        for listener in (tls, api):
            listener.bind(("127.83.0.4", 0))
            listener.listen()
        ports = [s.getsockname()[1] for s in (tls, api)]
        maps = ["--map-port", "67=0", "--map-port", "53=0"]
        maps += ["--map-port", f"443={ports[0]}", "--map-port", f"6443={ports[1]}"]
        waiting = socket.create_connection(("127.83.0.4", ports[1]))
        script = f'exec 3<&{tls.fileno()} 4<&{api.fileno()}; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=a:b exec "$@"'
        words = [bed.hcpnet.command, "up", str(bed.hcpnet.network), "--state-dir", str(bed.hcpnet.state), *maps]
        log = bed.hcpnet.folder / "log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                ["bash", "-c", script, "bash", *words, "--endpoints", str(bed.endpoints)],
                stderr=errors,
                text=True,
                pass_fds=[tls.fileno(), api.fileno()],
            )
        bed.hcpnet.processes.append(process)
    wait_until(
        lambda: (
            process.poll() is not None or bed.hcpnet("status", "--state-dir", str(bed.hcpnet.state)).returncode == 0
        ),
        "it does not serve",
    )
    assert process.poll() is None, log.read_text()
    assert bed.listener() == ("127.83.0.4", ports[1])
    Tunnel(bed.listener()).close()
    waiting.close()


def test_a_descriptor_of_the_service_manager_that_is_no_socket_is_an_error(bed: Bed, tmp_path: Path) -> None:
    script = 'exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    words = [bed.hcpnet.command, "up", str(bed.hcpnet.network), "--state-dir", str(tmp_path / "s"), *PORT_MAPS]
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "descriptor 3 of the service manager" in done.stderr
