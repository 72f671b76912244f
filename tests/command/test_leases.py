# SPDX-License-Identifier: Apache-2.0
"""`hcpnet leases`, with a process that runs and with a folder that it left."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import threading
import time

import pytest
from hcpnet_command import NETWORK, Hcpnet

SOON = int(time.time()) + 3600


def dnsmasq(*leases: tuple[int, str]) -> str:
    """A lease file with these last bytes of the MAC and addresses."""
    return "".join(f"{SOON} 02:00:00:00:00:{mac:02x} {address} vm{mac} *\n" for mac, address in leases)


def write(hcpnet: Hcpnet, text: str) -> str:
    path = hcpnet.folder / "old.leases"
    path.write_text(text)
    return str(path)


def stop(hcpnet: Hcpnet) -> None:
    process = hcpnet.processes.pop()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=15) == 0
    if process.stderr:
        process.stderr.close()


def test_leases_of_another_server_move_in_before_the_first_start(hcpnet: Hcpnet) -> None:
    old = write(hcpnet, dnsmasq((1, "127.83.0.101"), (2, "127.83.0.102")))
    words = ("leases", "import", old, "--format", "dnsmasq", "--state-dir", str(hcpnet.state))
    refused = hcpnet(*words)
    assert refused.returncode == 1
    assert "nothing has been served from this state folder" in refused.stderr
    done = hcpnet(*words, str(hcpnet.network))
    assert (done.returncode, done.stdout) == (0, "2 leases imported, 0 known already, 0 ended ones of no use\n"), done
    assert hcpnet.state.stat().st_mode & 0o777 == 0o700
    leases = hcpnet.ask("leases", "list")["leases"]
    hcpnet.up()
    assert hcpnet.ask("leases", "list")["leases"] == leases
    assert [(lease["address"], lease["mac"], lease["state"]) for lease in leases] == [
        ("127.83.0.101", "02:00:00:00:00:01", "bound"),
        ("127.83.0.102", "02:00:00:00:00:02", "bound"),
    ]


@pytest.mark.parametrize("runs", [True, False])
def test_import_show_release_and_export(hcpnet: Hcpnet, runs: bool) -> None:
    hcpnet.up()
    if not runs:
        stop(hcpnet)
    state = ("--state-dir", str(hcpnet.state))
    old = write(hcpnet, dnsmasq((1, "127.83.0.101"), (2, "127.83.0.102"), (3, "192.0.2.9")))
    refused = hcpnet("leases", "import", old, "--format", "dnsmasq", *state)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"{old}:3: error: the address lies in no network that is served")
    assert hcpnet.ask("leases", "list") == {"leases": []}, "nothing in part"
    body = hcpnet.ask("leases", "import", old, "--format", "dnsmasq", "--network", "127.83.0.0/24")
    assert body == {"imported": 2, "unchanged": 0, "leftOut": 0, "outside": 1, "diagnostics": []}
    body = hcpnet.ask("leases", "import", old, "--format", "dnsmasq", "--network", "127.83.0.0/24")
    assert body == {"imported": 0, "unchanged": 2, "leftOut": 0, "outside": 1, "diagnostics": []}

    for key in ("127.83.0.102", "02:00:00:00:00:02", "vm2"):
        [lease] = hcpnet.ask("leases", "show", key)["leases"]
        assert (lease["address"], lease["subnet"], lease["clientId"]) == ("127.83.0.102", "hcp/vlan", "")
    shown = hcpnet("leases", "show", "vm2", *state)
    assert "address            127.83.0.102\nMAC                02:00:00:00:00:02\n" in shown.stdout
    nobody = hcpnet("leases", "show", "vm9", *state)
    assert (nobody.returncode, nobody.stdout) == (1, "")

    held = write(hcpnet, dnsmasq((9, "127.83.0.102")))
    assert "lease-held" in hcpnet("leases", "import", held, "--format", "dnsmasq", *state).stderr
    done = hcpnet("leases", "release", "127.83.0.102", *state)
    assert done.stdout == "127.83.0.102 is free; the last to have it was 02:00:00:00:00:02\n"
    again = hcpnet("leases", "release", "127.83.0.102", *state)
    assert (again.returncode, "lease-not-found" in again.stderr) == (1, True)
    assert hcpnet.ask("leases", "import", held, "--format", "dnsmasq")["imported"] == 1

    forms = ("hcpnet", "isc", "dnsmasq", "kea")
    exported = {form: hcpnet("leases", "export", "-o", form, *state).stdout for form in forms}
    for form, text in exported.items():
        assert "127.83.0.102" in text, form
        path = write(hcpnet, text)
        body = hcpnet.ask("leases", "import", path, "--format", form)
        assert (body["imported"], body["unchanged"]) == (0, 2), (form, body)
    assert exported["dnsmasq"] == dnsmasq((1, "127.83.0.101"), (9, "127.83.0.102"))
    assert hcpnet("leases", "export", *state).stdout == exported["hcpnet"]


def test_the_table_of_oooi(hcpnet: Hcpnet) -> None:
    path = hcpnet.folder / "leases.txt"
    with sqlite3.connect(path) as table:
        table.execute("create table leases4(mac text, ip text, expiry integer, primary key(mac, ip))")
        table.execute("insert into leases4 values('02:00:00:00:00:01', '127.83.0.101', ?)", (SOON,))
    table.close()
    hcpnet.up()
    assert hcpnet.ask("leases", "import", str(path), "--format", "oooi")["imported"] == 1
    [lease] = hcpnet.ask("leases", "list")["leases"]
    assert (lease["address"], lease["mac"]) == ("127.83.0.101", "02:00:00:00:00:01")


def test_every_error_of_a_file_is_told_with_its_line(hcpnet: Hcpnet) -> None:
    old = write(hcpnet, "soon x\n" + dnsmasq((1, "127.83.0.101")) + "1 02:00:00:00:00:01 nowhere * *\n")
    done = hcpnet("leases", "import", old, "--format", "dnsmasq", "--state-dir", str(hcpnet.state))
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert [line.removeprefix(old).split(": ")[0] for line in lines] == [":1", ":3"], done.stderr
    absent = hcpnet("leases", "import", "/nonexistent", "--format", "isc", "--state-dir", str(hcpnet.state))
    assert (absent.returncode, "unreadable-file" in absent.stderr) == (1, True)


def test_standard_input_and_wrong_use(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    state = ("--state-dir", str(hcpnet.state))
    words = ("leases", "import", "-", "--format", "dnsmasq", *state, "-o", "json")
    done = hcpnet(*words, stdin=dnsmasq((1, "127.83.0.101")))
    assert json.loads(done.stdout)["imported"] == 1
    for wrong in (
        ("import",),
        ("import", "-", "--format", "udhcpd"),
        ("import", "-", "--network", "127.83.0.1/24"),
        ("release",),
        ("release", "nowhere"),
        ("show",),
        ("export", "-o", "udhcpd"),
    ):
        assert hcpnet("leases", *wrong, *state, stdin="").returncode == 2, wrong


def test_a_database_in_use_is_left_alone(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    (hcpnet.state / "admin.sock").unlink()
    done = hcpnet("leases", "list", "--state-dir", str(hcpnet.state))
    assert (done.returncode, done.stdout) == (1, "")
    assert "is in use by another process" in done.stderr


def test_a_large_file_is_one_transaction(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(NETWORK.replace("127.83.0.0/24", "127.83.0.0/16"))
    hcpnet.up()
    leases = [(0, f"127.83.{i // 250 + 1}.{i % 250 + 1}") for i in range(20_000)]
    text = "".join(f"{SOON} 02:00:00:00:{i >> 8:02x}:{i & 255:02x} {leases[i][1]} * *\n" for i in range(len(leases)))
    assert hcpnet.ask("leases", "import", write(hcpnet, text), "--format", "dnsmasq")["imported"] == len(leases)
    stop(hcpnet)
    assert len(hcpnet.ask("leases", "list")["leases"]) == len(leases)


def test_the_form_of_the_list(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    old = hcpnet.folder / "old"
    old.write_text(
        "address,hwaddr,valid_lifetime,expire,state\n"
        f"127.83.0.101,02:00:00:00:00:01,3600,{SOON},0\n"
        f"127.83.0.102,,3600,{SOON},1\n"
    )
    done = hcpnet("leases", "import", str(old), "--format", "kea", "--state-dir", str(hcpnet.state))
    assert done.stdout == "2 leases imported, 0 known already, 0 ended ones of no use\n"
    lines = hcpnet("leases", "list", "--state-dir", str(hcpnet.state)).stdout.splitlines()
    assert lines[0].split() == ["ADDRESS", "CLIENT", "STATE", "EXPIRES", "SUBNET", "HOST", "NAME"]
    assert lines[1].split()[:3] == ["127.83.0.101", "02:00:00:00:00:01", "bound"]
    assert lines[2].split()[:3] == ["127.83.0.102", "00:00:00:00:00:00", "declined"]


@pytest.mark.parametrize("runs", [True, False])
def test_reserve(hcpnet: Hcpnet, runs: bool) -> None:
    hcpnet.up()
    if not runs:
        stop(hcpnet)
    state = ("--state-dir", str(hcpnet.state))
    words = ("leases", "reserve", "127.83.0.107")
    done = hcpnet(*words, "--mac", "02:00:00:00:00:01", "--host-name", "web", *state)
    assert (done.returncode, done.stdout) == (0, "127.83.0.107 is kept for 02:00:00:00:00:01\n"), done.stderr
    [kept] = hcpnet.ask("leases", "reserve")["reservations"]
    assert (kept["address"], kept["hostName"], kept["subnet"]) == ("127.83.0.107", "web", "hcp/vlan")
    assert kept["byHand"] is True
    lines = hcpnet("leases", "reserve", *state).stdout.splitlines()
    assert lines[1].split() == ["127.83.0.107", "02:00:00:00:00:01", "hand", "hcp/vlan", "web"]
    for address, mac, code in (
        ("127.83.0.107", "02:00:00:00:00:02", "lease-reserved"),
        ("127.83.0.108", "02:00:00:00:00:01", "lease-reserved"),
        ("127.83.0.0", "02:00:00:00:00:02", "lease-own-address"),
        ("192.0.2.1", "02:00:00:00:00:02", "lease-foreign-network"),
        ("127.83.0.108", "03:00:00:00:00:02", "lease-bad-value"),
    ):
        refused = hcpnet("leases", "reserve", address, "--mac", mac, *state)
        assert (refused.returncode, code in refused.stderr) == (1, True), refused.stderr
    for wrong in (
        ("nowhere", "--mac", "02:00:00:00:00:01"),
        ("127.83.0.109",),
        ("127.83.0.109", "--mac", "x"),
        ("--remove",),
    ):
        assert hcpnet("leases", "reserve", *wrong, *state).returncode == 2, wrong
    removed = hcpnet(*words, "--remove", *state)
    assert removed.stdout == "127.83.0.107 is no longer kept for 02:00:00:00:00:01\n"
    done = hcpnet(*words, "--client-id", "ff:0:1", *state)
    assert (done.returncode, done.stdout) == (0, "127.83.0.107 is kept for ff:00:01\n"), done.stderr
    [kept] = hcpnet.ask("leases", "reserve")["reservations"]
    assert (kept["mac"], kept["clientId"]) == ("", "ff:00:01")
    for client_id in (
        ("127.83.0.109", "--client-id", "x"),
        ("127.83.0.109", "--client-id", "ff", "--mac", "02:00:00:00:00:01"),
    ):
        assert hcpnet("leases", "reserve", *client_id, *state).returncode == 2, client_id
    assert hcpnet(*words, "--remove", *state).stdout == "127.83.0.107 is no longer kept for ff:00:01\n"
    again = hcpnet(*words, "--remove", *state)
    assert (again.returncode, "lease-not-found" in again.stderr) == (1, True)


def test_watch_tells_what_happens(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    words = [hcpnet.command, "leases", "watch", "--state-dir", str(hcpnet.state), "-o"]
    watches = [subprocess.Popen([*words, form], stdout=subprocess.PIPE, text=True) for form in ("text", "json")]
    hcpnet.processes.extend(watches)
    old = write(hcpnet, dnsmasq((1, "127.83.0.101")))
    text, objects = (watch.stdout for watch in watches)
    assert text is not None
    assert objects is not None
    # Each hears of what happens after it has asked for the first time: so it happens until both have heard.
    heard = threading.Event()

    def happen() -> None:
        while not heard.is_set():
            hcpnet("leases", "import", old, "--format", "dnsmasq", "--state-dir", str(hcpnet.state))
            hcpnet("leases", "release", "127.83.0.101", "--state-dir", str(hcpnet.state))

    thread = threading.Thread(target=happen)
    thread.start()
    try:
        line = text.readline()
        event = json.loads(objects.readline())
    finally:
        heard.set()
        thread.join()
    assert " 127.83.0.101 02:00:00:00:00:01 hcp/vlan vm1\n" in line
    assert line.split()[1] in ("bound", "released")
    assert (event["event"], event["lease"]["address"]) in (("bound", "127.83.0.101"), ("released", "127.83.0.101"))
    hcpnet.processes[0].send_signal(signal.SIGTERM)
    for watch, output in zip(watches, (text, objects), strict=True):
        output.read()
        assert watch.wait(timeout=30) == 1
        output.close()
