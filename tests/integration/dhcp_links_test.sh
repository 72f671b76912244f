#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One `hcpnet up` on two links, in network namespaces that this run makes and removes.
#   dhcp_links_test.sh HCPNET_COMMAND DHCP_LOAD links   two interfaces; many clients at once, relayed and on the link;
#                                                       systemd-networkd; and a client that moves with its lease
#   dhcp_links_test.sh HCPNET_COMMAND DHCP_LOAD vlan    an interface and a VLAN on top of it: who is on which; needs
#                                                       python3 where the kernel has no VLAN devices
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
command_program=$1
load_program=$2
second_link=$3

# A VLAN on top of an interface. Where the kernel has no such devices a program of ours is one, with a veth pair.
make_vlan() { # NAME INTERFACE ID
  local upper="$2.$3" mac
  if ! ip -n "$run-$1" link add link "$2" name "$upper" type vlan id "$3" 2>/dev/null; then
    mac=$(ip -n "$run-$1" -o link show dev "$2" | sed 's/.*ether \([^ ]*\).*/\1/')
    ip -n "$run-$1" link add "$upper" address "$mac" type veth peer name "tag$3"
    ip -n "$run-$1" link set "tag$3" up
    ip netns exec "$run-$1" /usr/bin/python3 "$(dirname "$0")/vlan_device.py" "$2" "tag$3" "$3" >"$state/vlan-$1" 2>&1 &
    wait_until 10 grep -q ready "$state/vlan-$1"
  fi
  ip -n "$run-$1" link set "$upper" up
}

test_links() {
  expect "a client on the one interface" 10.9.1.1 "$(run_udhcpc plain)"
  expect "a client on the other" 192.168.107.50 "$(run_udhcpc other)"
  run_udhcpc plain -F vm-7.example >"$state/address"
  expect "the name of option 81 is kept" 1 "$("$command_program" leases list --state-dir "$up" | grep -cE '^10\.9\.1\.1 .* vm-7$')"
}

test_vlan() {
  expect "a client on the interface" 10.9.1.1 "$(run_udhcpc plain)"
  expect "a client with the tag of the VLAN" 192.168.107.50 "$(run_udhcpc tagged -i eth0.7)"
  expect "the same client without a tag is on the other link" 10.9.1.2 "$(run_udhcpc tagged)"
  expect "a client with another tag gets no answer" "" "$(run_udhcpc stray -i eth0.8 -t 2 -T 1)"
  expect "a client with another tag has no lease" 0 "$("$command_program" leases list --state-dir "$up" | grep -c '02:00:00:00:0a:03')"
}

# Its datagrams come from the kernel, over a virtual cable: with a checksum that is only begun.
test_perfdhcp() {
  in_namespace perf timeout 60 perfdhcp -4 -l eth0 -r 200 -R 500 -n 500 -W 2 10.9.0.2 >"$state/perf" 2>&1
  expect "perfdhcp, as a relay: answered, each with an address of its own" yes "$(judge_perfdhcp)"
}

loaded() { # FIELD
  sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$state/load"
}

# On the link itself, answered by frames to hardware addresses that nobody answers ARP for, and by broadcast. A busy
# machine may lose some; what comes back is right.
test_load() {
  local broadcast
  for broadcast in 0 1; do
    in_namespace perf timeout 60 "$load_program" --interface eth0 --clients 500 --once 1 --window 16 --broadcast $broadcast >"$state/load" 2>&1
    expect "500 clients on the link, broadcast $broadcast: answered" yes "$(
      if [ "$(loaded exchanges)" -ge 450 ]; then echo yes; else cat "$state/load"; fi
    )"
    expect "500 clients on the link, broadcast $broadcast: no address twice, none refused, no checksum wrong" "0 0 0" \
      "$(loaded duplicates) $(loaded refused) $(loaded unsound)"
  done
}

test_networkd() {
  local address
  start_networkd <<<$'[Match]\nName=eth0\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\n[DHCPv4]\nClientIdentifier=mac'
  wait_until 20 has_address -4 networkd
  address=$(addresses -4 networkd)
  expect "systemd-networkd: address" 1 "$(echo "$address" | grep -cE '^10\.9\.[1-9]\.[0-9]+/16$')"
  expect "systemd-networkd: it is in the list of leases" 1 \
    "$("$command_program" leases list --state-dir "$up" | grep -c "^${address%/*} *02:00:00:00:0a:05 *bound")"
  stop_client
}

# The cable of a client is plugged into another node, whose bridge is on the same VLAN: once with the client running,
# which renews, and once with a client that begins anew.
move_to() { # NODE BRIDGE
  local from=server
  [ "$1" != server ] || from=node
  ip -n "$run-$from" link set to-plain netns "$run-$1"
  ip -n "$run-$1" link set to-plain master "$2" up
}

test_migration() {
  rm -f "$state/result"
  ip netns exec "$run-plain" udhcpc -i eth0 -f -t 5 -T 2 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1 &
  client_pid=$!
  wait_until 10 grep -q . "$state/result"
  expect "before the move" "bound 10.9.1.1" "$(cat "$state/result.reason" "$state/result" 2>/dev/null)"
  move_to node lan
  rm -f "$state/result"
  kill -USR1 "$client_pid"   # renew
  wait_until 10 grep -q . "$state/result"
  expect "moved while it runs: renewed, the same address" "renew 10.9.1.1" "$(cat "$state/result.reason" "$state/result" 2>/dev/null)"
  kill -KILL "$client_pid"
  wait "$client_pid" 2>/dev/null
  client_pid=
  ip -n "$run-plain" address flush dev eth0
  move_to server net1
  expect "moved and started anew: the same address" 10.9.1.1 "$(run_udhcpc plain)"
}

require udhcpc perfdhcp unshare "$networkd"
write_udhcpc_script <<'SCRIPT'
ip address replace "$ip/$mask" dev "$interface"
printf "%s " "$1" >"$RESULT.reason"
echo "$ip" >"$RESULT"
SCRIPT
cat >"$state/network.yaml" <<'SPEC'
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: plain, namespace: hcp}
spec:
  networkConfig: {cidr: 10.9.0.0/16, gateway: 10.9.0.1, networkAttachmentDefinition: net1}
  infraComponents:
    dhcp: {serverIP: 10.9.0.2, rangeStart: 10.9.1.1, rangeEnd: 10.9.9.255}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: tagged, namespace: hcp}
spec:
  networkConfig: {cidr: 192.168.107.0/24, gateway: 192.168.107.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: 192.168.107.2, rangeStart: 192.168.107.50, rangeEnd: 192.168.107.99}
SPEC

make_namespace server
ip -n "$run-server" link add net1 address 02:00:00:00:0a:fe type bridge
ip -n "$run-server" address add 10.9.0.2/16 dev net1
ip -n "$run-server" link set net1 up
make_client plain 02:00:00:00:0a:01
if [ "$second_link" = vlan ]; then
  make_client tagged 02:00:00:00:0a:02
  make_client stray 02:00:00:00:0a:03
  make_vlan server net1 7
  ip -n "$run-server" address add 192.168.107.2/24 dev net1.7
  make_vlan tagged eth0 7
  make_vlan stray eth0 8
  start_up "$state/network.yaml"
  test_vlan
  [ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
  exit 0
fi

make_bridge server net2 192.168.107.2/24
make_client other 02:00:00:00:0a:02 net2
make_client perf 02:00:00:00:0a:04
make_client networkd 02:00:00:00:0a:05
ip -n "$run-perf" address add 10.9.0.20/16 dev eth0
make_namespace node
make_bridge node lan
ip -n "$run-node" link add uplink type veth peer name to-node netns "$run-server"
ip -n "$run-node" link set uplink master lan up
ip -n "$run-server" link set to-node master net1 up

start_up "$state/network.yaml"
test_links
test_migration
test_networkd
test_perfdhcp
test_load

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
