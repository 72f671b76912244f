# SPDX-License-Identifier: Apache-2.0
"""Lease files, hcpnet.dhcp.StoppedServer, and leases that are imported into a stack."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import hcpnet
import pytest
from hcpnet import dhcp
from hcpnet.dhcp import LeaseFileFormat, LeaseState
from support import Vlan, bound, take_lease

MAC = "02:00:00:00:00:01"
SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
END = int(SOON.timestamp())
DNSMASQ = f"""{END} {MAC} 127.81.1.101 web 01:02
duid 00:04:aa:bb
{END} 7 2001:db8::5 vm 00:03:00:01:02:00:00:00:00:03
"""


def some_leases() -> dhcp.LeaseList:
    """One lease in the VLAN, and one of IPv6."""
    return dhcp.parse_lease_file(LeaseFileFormat.dnsmasq, DNSMASQ, file="old")


def only_v4() -> dhcp.LeaseList:
    """The lease in the VLAN."""
    leases = some_leases()
    assert leases.keep_only(["127.81.1.0/24"]) == 1
    return leases


def test_a_lease_file_is_read() -> None:
    leases = some_leases()
    assert (len(leases), leases.file, leases.warnings) == (2, "old", [])
    [listed] = leases.leases
    assert listed.line == 1
    lease = listed.lease
    assert (lease.address, lease.mac, lease.host_name) == (IPv4Address("127.81.1.101"), MAC, "web")
    assert (lease.client_id, lease.state, lease.expires) == (b"\x01\x02", LeaseState.bound, SOON)
    [listed6] = leases.leases6
    assert listed6.line == 3
    lease6 = listed6.lease
    assert (lease6.address, lease6.iaid, lease6.mac) == (IPv6Address("2001:db8::5"), 7, "02:00:00:00:00:03")
    assert (lease6.duid, lease6.host_name) == ("00:03:00:01:02:00:00:00:00:03", "vm")
    assert (lease6.state, lease6.expires, lease6.subnet) == (LeaseState.bound, SOON, "")
    assert lease6.started == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_lease_outlives_its_list() -> None:
    text = "".join(f"{END} 02:00:00:00:00:{n:02x} 192.0.2.{n} name-longer-than-{n} *\n" for n in range(10, 30))
    text += f"{END} 7 2001:db8::5 name-longer-than-five 00:03:00:01:02:00:00:00:00:03\n"
    leases = dhcp.parse_lease_file(LeaseFileFormat.dnsmasq, text)
    kept, kept6 = leases.leases, leases.leases6
    assert leases.keep_only(["192.0.2.29/32"]) == 20
    assert (len(leases.leases), leases.leases6) == (1, [])
    assert [str(listed.lease.address) for listed in kept] == [f"192.0.2.{n}" for n in range(10, 30)]
    assert [listed.lease.host_name for listed in kept] == [f"name-longer-than-{n}" for n in range(10, 30)]
    assert [listed.lease.host_name for listed in kept6] == ["name-longer-than-five"]


def test_a_list_may_change_while_it_is_imported(vlan: Vlan) -> None:
    vlan.file.write_text(vlan.file.read_text().replace("127.81.1.0/24", "127.0.0.0/8"))
    many = "".join(
        f"{END} 02:00:00:00:{n >> 8:02x}:{n & 255:02x} 127.82.{n >> 8}.{n & 255} * *\n" for n in range(1, 50_000)
    )
    first = dhcp.parse_lease_file(LeaseFileFormat.dnsmasq, many)
    second = dhcp.parse_lease_file(LeaseFileFormat.dnsmasq, f"{END} 02:00:00:01:00:00 127.83.0.1 * *\n")
    with dhcp.StoppedServer(vlan.folder / "leases.db", files=[vlan.file]) as stopped, ThreadPoolExecutor(2) as threads:
        outcomes = [threads.submit(stopped.import_leases, first)]
        time.sleep(0.02)
        outcomes.append(threads.submit(stopped.import_leases, second))  # it waits for the other
        time.sleep(0.02)
        second.keep_only([])
        assert [outcome.result().imported for outcome in outcomes] == [49_999, 1]


def test_every_error_is_told_with_its_line() -> None:
    with pytest.raises(hcpnet.SpecError) as raised:
        dhcp.parse_lease_file(LeaseFileFormat.dnsmasq, b"x\n\xff y\n", file="old")
    assert [(d.file, d.line, d.code) for d in raised.value.diagnostics] == [
        ("old", 1, "lease-syntax"),
        ("old", 2, "lease-syntax"),
    ]


def test_leases_are_written_for_others() -> None:
    leases = [listed.lease for listed in some_leases().leases]
    leases6 = [listed.lease for listed in some_leases().leases6]
    ours = dhcp.render_lease_file(leases, leases6)
    assert len(dhcp.parse_lease_file(LeaseFileFormat.hcpnet, ours)) == 2
    for form in (LeaseFileFormat.isc, LeaseFileFormat.dnsmasq, LeaseFileFormat.kea):
        text = dhcp.render_lease_file(leases, format=form)
        [listed] = dhcp.parse_lease_file(form, text).leases
        assert listed.lease.address == leases[0].address
        with pytest.raises(ValueError, match="IPv6"):
            dhcp.render_lease_file(leases, leases6, format=form)
    assert len(dhcp.parse_lease_file(LeaseFileFormat.kea, dhcp.render_kea_leases6(leases6)).leases6) == 1


def test_the_table_of_oooi(tmp_path: Path) -> None:
    path = tmp_path / "leases.txt"
    table = sqlite3.connect(path)
    table.execute("create table leases4(mac text, ip text, expiry integer)")
    table.execute("insert into leases4 values(?, '127.81.1.101', 5)", (MAC,))
    table.commit()
    table.close()
    [listed] = dhcp.read_oooi_leases(path).leases
    assert (listed.lease.mac, listed.line) == (MAC, 1)
    with pytest.raises(hcpnet.SpecError):
        dhcp.read_oooi_leases(tmp_path / "none")


def test_a_stack_takes_leases_over_and_ends_them(vlan: Vlan) -> None:
    events: list[hcpnet.StackEvent] = []
    with hcpnet.Stack(**vlan.options(), on_event=events.append) as stack:
        outcome = stack.import_leases(only_v4())
        assert (outcome.imported, outcome.unchanged, outcome.left_out, outcome.warnings) == (1, 0, 0, [])
        assert take_lease(bound(stack, "dhcp", 67), bytes.fromhex("020000000001")) == "127.81.1.101"
        with pytest.raises(hcpnet.SpecError) as raised:
            stack.import_leases(some_leases())
        assert [(d.line, d.code) for d in raised.value.diagnostics] == [(3, "lease-foreign-network")]
        ended = stack.release_lease("127.81.1.101")
        assert isinstance(ended, dhcp.Lease)
        assert ended.state is LeaseState.released
        with pytest.raises(hcpnet.SpecError):
            stack.release_lease(IPv6Address("2001:db8::5"))
        assert stack.leases6() == []
        assert stack.stats().dhcp.v6.received == {}
    kinds = [event.lease.kind.name for event in events if event.lease]
    assert kinds == ["bound", "renewed", "released"]
    assert all(event.lease6 is None for event in events)


def test_an_address_is_kept_for_a_client(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options()) as stack:
        kept = stack.reserve_address("127.81.1.107", mac=MAC, host_name="web")
        assert (kept.address, kept.mac, kept.duid) == (IPv4Address("127.81.1.107"), MAC, None)
        assert (kept.host_name, kept.subnet, kept.is_by_hand) == ("web", "hcp/vlan", True)
        assert take_lease(bound(stack, "dhcp", 67), bytes.fromhex("020000000001")) == "127.81.1.107"
        for refused in ("127.81.1.107", "127.81.1.2", "192.0.2.1"):
            with pytest.raises(hcpnet.SpecError):
                stack.reserve_address(refused, mac="02:00:00:00:00:09")
        with pytest.raises(ValueError, match="DUID"):
            stack.reserve_address("127.81.1.108", duid="x")
        by_id = stack.reserve_address("127.81.1.108", client_id=b"\xff\x00\x01")
        assert (by_id.mac, by_id.client_id, kept.client_id) == (None, b"\xff\x00\x01", b"")
        assert stack.unreserve_address("127.81.1.108").client_id == b"\xff\x00\x01"
    with dhcp.StoppedServer(vlan.folder / "leases.db", files=[vlan.file]) as stopped:
        assert [str(kept.address) for kept in stopped.reservations()] == ["127.81.1.107"]
        stopped.unreserve("127.81.1.107")
        stopped.reserve("127.81.1.108", mac=MAC)
    with hcpnet.Stack(**vlan.options()) as stack:
        assert [str(kept.address) for kept in stack.reservations()] == ["127.81.1.108"]
        assert stack.unreserve_address("127.81.1.108").mac == MAC
        assert stack.reservations() == []
        with pytest.raises(hcpnet.SpecError):
            stack.unreserve_address("127.81.1.108")


def test_a_stopped_server_has_its_leases(vlan: Vlan) -> None:
    database = vlan.folder / "leases.db"
    with pytest.raises(RuntimeError, match="is not there"):
        dhcp.StoppedServer(database)
    with dhcp.StoppedServer(database, files=[vlan.file]) as stopped:
        assert stopped.import_leases(only_v4()).imported == 1
        with pytest.raises(hcpnet.SpecError):
            stopped.import_leases(some_leases())
        with pytest.raises(RuntimeError, match="in use"):
            dhcp.StoppedServer(database)
    with pytest.raises(hcpnet.Error, match="closed"):
        stopped.leases()
    with hcpnet.Stack(**vlan.options()) as stack:
        [lease] = stack.leases()
        assert (lease.mac, lease.subnet) == (MAC, "hcp/vlan")
    with dhcp.StoppedServer(database) as stopped:
        assert [str(lease.address) for lease in stopped.leases()] == ["127.81.1.101"]
        assert (stopped.leases6(), stopped.problems()) == ([], [])
        assert isinstance(stopped.release("127.81.1.101"), dhcp.Lease)
        with pytest.raises(hcpnet.SpecError):
            stopped.release("127.81.1.101")
