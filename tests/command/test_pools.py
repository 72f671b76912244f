# SPDX-License-Identifier: Apache-2.0
"""Pools, exclusions and further subnets of a DHCPPolicy. Clients: tests/integration/dhcp_pools_test.sh."""

from __future__ import annotations

import time

from hcpnet_command import NETWORK, Hcpnet

SOON = int(time.time()) + 3600


def policy(pools: str, more: str = "") -> str:
    return (
        NETWORK + "---\napiVersion: hcpnet.io/v1alpha1\nkind: DHCPPolicy\nmetadata: {name: p, namespace: hcp}\nspec:\n"
        f"  targetRef: {{kind: Infra, name: vlan}}\n  pools: [{pools}]\n{more}"
    )


SECOND = (
    "  subnets: [{cidr: 127.84.0.0/24, serverIP: 127.84.0.2, "
    "pools: [{rangeStart: 127.84.0.10, rangeEnd: 127.84.0.19}]}]\n"
)
POOL = "{rangeStart: 127.83.0.10, rangeEnd: 127.83.0.19}"


def pools_of(hcpnet: Hcpnet) -> dict[str, tuple[str, int, int]]:
    return {
        pool["pool"]: (subnet["subnet"], pool["size"], pool["bound"])
        for subnet in hcpnet.ask("status")["dhcp"]["subnets"]
        for pool in subnet["pools"]
    }


def test_status_and_metrics_tell_how_full_each_pool_is(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(policy(POOL, "  exclusions: [{rangeStart: 127.83.0.12}]\n" + SECOND))
    hcpnet.up()
    leases = hcpnet.folder / "old.leases"
    addresses = ("127.83.0.10", "127.83.0.100", "127.84.0.10", "127.84.0.11")
    leases.write_text("".join(f"{SOON} 02:00:00:00:00:{n:02x} {a} vm{n} *\n" for n, a in enumerate(addresses)))
    assert hcpnet.ask("leases", "import", str(leases), "--format", "dnsmasq")["imported"] == len(addresses)
    assert pools_of(hcpnet) == {
        "127.83.0.100-127.83.0.149": ("hcp/vlan", 50, 1),
        "127.83.0.10-127.83.0.19": ("hcp/vlan", 9, 1),
        "127.84.0.10-127.84.0.19": ("hcp/vlan/127.84.0.0/24", 10, 2),
    }
    (second,) = [s for s in hcpnet.ask("status")["dhcp"]["subnets"] if s["subnet"] == "hcp/vlan/127.84.0.0/24"]
    assert second["utilization"] == 0.2
    text = hcpnet("status", "--state-dir", str(hcpnet.state)).stdout
    assert "pool 127.84.0.10-127.84.0.19 of hcp/vlan/127.84.0.0/24: 2 bound, 0 offered, 0 declined of 10\n" in text
    listed = hcpnet.ask("leases", "list")["leases"]
    assert [lease["subnet"] for lease in listed] == ["hcp/vlan"] * 2 + ["hcp/vlan/127.84.0.0/24"] * 2


def test_a_pool_that_shrinks_keeps_its_leases(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(policy(POOL))
    hcpnet.up()
    leases = hcpnet.folder / "old.leases"
    leases.write_text(f"{SOON} 02:00:00:00:00:01 127.83.0.10 vm *\n")
    hcpnet.ask("leases", "import", str(leases), "--format", "dnsmasq")
    hcpnet.network.write_text(policy("{rangeStart: 127.83.0.15, rangeEnd: 127.83.0.19}"))
    assert hcpnet.ask("reload")["applied"]
    assert [lease["address"] for lease in hcpnet.ask("leases", "list")["leases"]] == ["127.83.0.10"]
    assert pools_of(hcpnet)["127.83.0.15-127.83.0.19"] == ("hcp/vlan", 5, 0)
    (subnet,) = hcpnet.ask("status")["dhcp"]["subnets"]
    assert (subnet["bound"], subnet["utilization"]) == (1, 0), "outside the pools"


def test_subnets_change_at_a_restart_only(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(policy(POOL))
    hcpnet.up()
    hcpnet.network.write_text(policy(POOL, SECOND))
    done = hcpnet("reload", "--state-dir", str(hcpnet.state))
    assert done.returncode == 1
    assert "hcp/vlan/127.84.0.0/24" in done.stdout + done.stderr


def test_every_error_is_told_at_its_line(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(
        policy(
            "{rangeStart: 127.83.0.140, rangeEnd: 127.83.0.150, clientClasses: [pxe]}",
            "  exclusions:\n  - {rangeStart: 127.90.0.1}\n",
        )
    )
    done = hcpnet("check", str(hcpnet.network))
    assert done.returncode == 1
    problems = [line for line in done.stderr.splitlines() + done.stdout.splitlines() if ": error: " in line]
    line = len(NETWORK.splitlines()) + 7
    assert len(problems) == 3, problems
    assert sum(f":{line}:" in problem for problem in problems) == 2, problems
    assert sum(f":{line + 2}:" in problem for problem in problems) == 1, problems
