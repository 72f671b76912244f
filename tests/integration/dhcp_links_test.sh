#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One `hcpnet up` on two links, in network namespaces that this run makes and removes.
#   dhcp_links_test.sh HCPNET_COMMAND DHCP_LOAD links   two interfaces; many clients at once, relayed and on the link;
#                                                       systemd-networkd; and a client that moves with its lease
#   dhcp_links_test.sh HCPNET_COMMAND DHCP_LOAD vlan    an interface and a VLAN on top of it: who is on which; needs
#                                                       python3 where the kernel has no VLAN devices
# Exit status: 0 good, 1 failed, 77 skipped: not root.
set -u

command_program=$1
load_program=$2
second_link=$3
networkd=/usr/lib/systemd/systemd-networkd
run="hcpnet-links-$$"
state=$(mktemp -d)
failures=0
server_pid=
client_pid=

skip() {
  echo "SKIPPED: $1"
  exit 77
}

expect() { # WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    echo "FAILED: $1: expected '$2', found '$3'"
    failures=$((failures + 1))
  fi
}

clean_up() {
  for pid in $client_pid $server_pid; do
    kill -TERM "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  for namespace in $(ip netns list | awk -v run="$run" 'index($1, run) == 1 { print $1 }'); do
    # shellcheck disable=SC2046 # one id per word
    kill -KILL $(ip netns pids "$namespace") 2>/dev/null
    ip netns delete "$namespace"
    rm -rf "/etc/netns/${namespace:?}"
  done
  rm -rf "$state"
}

make_namespace() { # NAME
  mkdir -p "/etc/netns/$run-$1"
  : >"/etc/netns/$run-$1/resolv.conf"   # clients write here, not into the machine's own
  ip netns add "$run-$1"
  ip -n "$run-$1" link set lo up
}

make_client() { # NAME MAC [BRIDGE]
  make_namespace "$1"
  ip -n "$run-$1" link add eth0 address "$2" type veth peer name "to-$1" netns "$run-server"
  ip -n "$run-server" link set "to-$1" master "${3:-net1}" up
  ip -n "$run-$1" link set eth0 up
}

# A VLAN on top of an interface. Where the kernel has no such devices a program of ours is one, with a veth pair.
make_vlan() { # NAME INTERFACE ID
  local upper="$2.$3" mac
  if ! ip -n "$run-$1" link add link "$2" name "$upper" type vlan id "$3" 2>/dev/null; then
    mac=$(ip -n "$run-$1" -o link show dev "$2" | sed 's/.*ether \([^ ]*\).*/\1/')
    ip -n "$run-$1" link add "$upper" address "$mac" type veth peer name "tag$3"
    ip -n "$run-$1" link set "tag$3" up
    ip netns exec "$run-$1" /usr/bin/python3 "$(dirname "$0")/vlan_device.py" "$2" "tag$3" "$3" >"$state/vlan-$1" 2>&1 &
    wait_for_line "$state/vlan-$1" ready
  fi
  ip -n "$run-$1" link set "$upper" up
}

in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

run_udhcpc() { # NAME INTERFACE ARGUMENT...: the address that it was given
  local name=$1 interface=$2
  shift 2
  rm -f "$state/result"
  in_namespace "$name" udhcpc -i "$interface" -f -n -q -s "$state/udhcpc.sh" "$@" >"$state/client.log" 2>&1
  sed 's/^[a-z]* //' "$state/result" 2>/dev/null
}

wait_for_line() { # FILE PATTERN
  for _ in $(seq 200); do
    grep -q "$2" "$1" 2>/dev/null && return
    read -rt 0.05 <> <(:)
  done
}

start_server() {
  mkdir -m 0700 "$state/up"
  ip netns exec "$run-server" "$command_program" up "$state/network.yaml" --state-dir "$state/up" >"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  for _ in $(seq 400); do
    "$command_program" status --state-dir "$state/up" >/dev/null 2>&1 && return
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
  echo "FAILED: the server did not start: $(cat "$state/server.err")"
  exit 1
}

test_links() {
  expect "a client on the one interface" 10.9.1.1 "$(run_udhcpc plain eth0 -t 5 -T 2)"
  expect "a client on the other" 192.168.107.50 "$(run_udhcpc other eth0 -t 5 -T 2)"
  run_udhcpc plain eth0 -t 5 -T 2 -F vm-7.example >"$state/address"
  expect "the name of option 81 is kept" 1 "$("$command_program" leases list --state-dir "$state/up" | grep -cE '^10\.9\.1\.1 .* vm-7$')"
}

test_vlan() {
  expect "a client on the interface" 10.9.1.1 "$(run_udhcpc plain eth0 -t 5 -T 2)"
  expect "a client with the tag of the VLAN" 192.168.107.50 "$(run_udhcpc tagged eth0.7 -t 5 -T 2)"
  expect "the same client without a tag is on the other link" 10.9.1.2 "$(run_udhcpc tagged eth0 -t 5 -T 2)"
  expect "a client with another tag gets no answer" "" "$(run_udhcpc stray eth0.8 -t 2 -T 1)"
  expect "a client with another tag has no lease" 0 "$("$command_program" leases list --state-dir "$state/up" | grep -c '02:00:00:00:0a:03')"
}

# Its datagrams come from the kernel, over a virtual cable: with a checksum that is only begun.
test_perfdhcp() {
  in_namespace perf timeout 60 perfdhcp -4 -l eth0 -r 200 -R 500 -n 500 -W 2 10.9.0.2 >"$state/perf" 2>&1
  # It ends without waiting for the last answers, so a few of 500 are missing.
  expect "perfdhcp, as a relay: answered, each with an address of its own" yes "$(
    awk '/^received packets:/ { answers = $3 } /^non unique addresses:/ { doubles += $4 }
         END { print (answers >= 450 && doubles == 0) ? "yes" : "no: " answers " answers, " doubles " doubles" }' "$state/perf"
  )"
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

# Without a service manager: where /sys can't be written it takes itself to be in a container, and waits for nobody.
test_networkd() {
  printf '[Match]\nName=eth0\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\n[DHCPv4]\nClientIdentifier=mac\n' >"$state/eth0.network"
  # shellcheck disable=SC2016 # expanded inside
  in_namespace networkd unshare -m sh -c 'mount -o remount,ro /sys && mount -t tmpfs none /run &&
    mkdir -p /run/systemd/network /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp &&
    cp "$1" /run/systemd/network/ && chown -R systemd-network: /run/systemd/netif && exec "$2"' sh "$state/eth0.network" "$networkd" \
    >"$state/client.log" 2>&1 &
  client_pid=$!
  local address=
  for _ in $(seq 400); do
    address=$(ip -n "$run-networkd" -4 -o address show dev eth0 | awk '{ print $4 }')
    [ -z "$address" ] || break
    read -rt 0.05 <> <(:)
  done
  expect "systemd-networkd: address" 1 "$(echo "$address" | grep -cE '^10\.9\.[1-9]\.[0-9]+/16$')"
  expect "systemd-networkd: it is in the list of leases" 1 \
    "$("$command_program" leases list --state-dir "$state/up" | grep -c "^${address%/*} *02:00:00:00:0a:05 *bound")"
  kill -TERM "$client_pid"
  wait "$client_pid" 2>/dev/null
  client_pid=
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
  wait_for_line "$state/result" .
  expect "before the move" "bound 10.9.1.1" "$(cat "$state/result" 2>/dev/null)"
  move_to node lan
  rm -f "$state/result"
  kill -USR1 "$client_pid"   # renew
  wait_for_line "$state/result" .
  expect "moved while it runs: renewed, the same address" "renew 10.9.1.1" "$(cat "$state/result" 2>/dev/null)"
  kill -KILL "$client_pid"
  wait "$client_pid" 2>/dev/null
  client_pid=
  ip -n "$run-plain" address flush dev eth0
  move_to server net1
  expect "moved and started anew: the same address" 10.9.1.1 "$(run_udhcpc plain eth0 -t 5 -T 2)"
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for program in ip udhcpc perfdhcp unshare "$networkd"; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM
{
  printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
  cat <<'SCRIPT'
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip address replace "$ip/$mask" dev "$interface"
echo "$1 $ip" >"$RESULT"
SCRIPT
} >"$state/udhcpc.sh"
chmod +x "$state/udhcpc.sh"
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
  start_server
  test_vlan
  [ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
  exit 0
fi

ip -n "$run-server" link add net2 type bridge
ip -n "$run-server" address add 192.168.107.2/24 dev net2
ip -n "$run-server" link set net2 up
make_client other 02:00:00:00:0a:02 net2
make_client perf 02:00:00:00:0a:04
make_client networkd 02:00:00:00:0a:05
ip -n "$run-perf" address add 10.9.0.20/16 dev eth0
make_namespace node
ip -n "$run-node" link add lan type bridge
ip -n "$run-node" link set lan up
ip -n "$run-node" link add uplink type veth peer name to-node netns "$run-server"
ip -n "$run-node" link set uplink master lan up
ip -n "$run-server" link set to-node master net1 up

start_server
test_links
test_migration
test_networkd
test_perfdhcp
test_load

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
