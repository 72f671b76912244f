#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stock DHCPv6 clients in network namespaces of their own against the server, and router advertisements of `hcpnet up`:
# dhcp6_clients_test.sh SERVER_PROGRAM HCPNET_COMMAND
# Needs root. Without it, or without a client, it says so and counts as skipped.
set -u

server_program=$1
command_program=$2
run="hcpnet6-$$"
state=$(mktemp -d)
server_pid=
client_pid=
failures=0
networkd=/usr/lib/systemd/systemd-networkd

skip() {
  echo "skipped: $1"
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
  stop_client
  stop_server KILL
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

in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

# A link-local address can be used when duplicate address detection has ended.
wait_for_link_local() { # NAME INTERFACE
  for _ in $(seq 100); do
    ip -n "$run-$1" -6 -o address show dev "$2" scope link 2>/dev/null | grep -v tentative | grep -q fe80 && return
    read -rt 0.05 <> <(:)
  done
  expect "$1 has a link-local address" yes no
}

make_client() { # NAME MAC
  make_namespace "$1"
  ip -n "$run-$1" link add eth0 address "$2" type veth peer name "to-$1" netns "$run-server"
  ip -n "$run-server" link set "to-$1" master net1 up
  ip -n "$run-$1" link set eth0 up
  wait_for_link_local "$1" eth0
}

start_server() { # OPTION...
  : >"$state/server.out"
  ip netns exec "$run-server" "$server_program" --database "$state/leases.db" --server 192.168.100.2 --cidr 192.168.100.0/22 \
    --pool 192.168.100.50-192.168.100.99 --lease 600 --cidr6 2001:db8:100::/64 --pool6 2001:db8:100::50-2001:db8:100::ffff \
    --dns6 2001:db8:100::3 --search6 hc.example.com "$@" >>"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  for _ in $(seq 200); do
    grep -q '^ready' "$state/server.out" && return 0
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
  echo "the server did not start: $(cat "$state/server.err")"
  exit 1
}

stop_server() { # SIGNAL
  [ -n "$server_pid" ] || return 0
  cat "$state/server.out" >>"$state/events"
  kill "-$1" "$server_pid" 2>/dev/null
  wait "$server_pid" 2>/dev/null
  server_pid=
}

stop_client() {
  [ -n "$client_pid" ] || return 0
  kill -TERM "$client_pid" 2>/dev/null
  wait "$client_pid" 2>/dev/null
  client_pid=
}

wait_for_event() { # TEXT
  for _ in $(seq 100); do
    grep -q "$1" "$state/server.out" && return
    read -rt 0.05 <> <(:)
  done
}

dhclient6() { # ARGUMENT...
  in_namespace dhclient timeout 60 dhclient -6 -D LL -sf "$state/dhclient.sh" -lf "$state/dhclient.leases" -pf "$state/dhclient.pid" \
    "$@" eth0 >"$state/client.log" 2>&1
}

test_dhclient() {
  dhclient6 -1
  expect "dhclient -6: address and options" "2001:db8:100::50 600 2001:db8:100::3 hc.example.com." "$(cat "$state/result" 2>/dev/null)"
  dhclient6 -x
  rm -f "$state/result"
  stop_server KILL
  start_server
  dhclient6 -1
  expect "dhclient -6: the same after kill -9 and its own restart" 2001:db8:100::50 "$(cut -d' ' -f1 "$state/result" 2>/dev/null)"
  dhclient6 -r
  wait_for_event '^released 2001:db8:100::50'
  expect "dhclient -6: release" 1 "$(grep -c '^released 2001:db8:100::50' "$state/server.out")"
}

# No configuration by router advertisements here, so dhcpcd is told to solicit.
test_dhcpcd() {
  printf 'noipv6rs\ninterface eth0\nduid\niaid 1\ndhcp6\nia_na 1\n' >"$state/dhcpcd.conf"
  # shellcheck disable=SC2016 # expanded inside
  in_namespace dhcpcd unshare -m sh -c 'mount -t tmpfs none /run && mount -t tmpfs none /var/lib/dhcpcd &&
    dhcpcd -6 -f "$1" --oneshot --nobackground --timeout 20 --script /bin/true eth0' sh "$state/dhcpcd.conf" >"$state/client.log" 2>&1
  expect "dhcpcd: address" 2001:db8:100::51/128 \
    "$(in_namespace dhcpcd ip -6 -o address show dev eth0 scope global | awk '{ print $4 }')"
}

# It ends without waiting for the last answers, so a few of 500 are missing.
judge_perfdhcp() {
  awk '/^received packets:/ { answers = $3 } /^non unique addresses:/ { doubles += $4 }
       END { print (answers >= 450 && doubles == 0) ? "yes" : "no: " answers " answers, " doubles " doubles" }' "$state/perf"
}

test_perfdhcp() {
  stop_server TERM
  start_server --identity6 duid
  in_namespace perf timeout 60 perfdhcp -6 -l eth0 -r 200 -R 500 -n 500 -W 2 all >"$state/perf" 2>&1
  expect "perfdhcp -6, direct: answered, each with an address of its own" yes "$(judge_perfdhcp)"
  in_namespace perf timeout 60 perfdhcp -6 -A1 -l eth0 -r 200 -R 500 -n 500 -W 2 all >"$state/perf" 2>&1
  expect "perfdhcp -6, relayed: answered, each with an address of its own" yes "$(judge_perfdhcp)"
}

start_up() { # SPEC
  ip netns exec "$run-server" "$command_program" up "$1" --state-dir "$state/up" >"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  for _ in $(seq 400); do
    grep -q 'router advertisements sent' "$state/server.err" && break
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
}

# The whole way: from a spec through `hcpnet up` to what a kernel and rdisc6 make of it.
test_router_advertisement() {
  stop_server TERM
  cat >"$state/network.yaml" <<'SPEC'
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: 192.168.100.0/22, gateway: 192.168.100.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: 192.168.100.2, rangeStart: 192.168.100.50, rangeEnd: 192.168.100.99}
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: v6, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: yard}
  ipv6: {cidr: "2001:db8:100::/64", rangeStart: "2001:db8:100::1:0", rangeEnd: "2001:db8:100::1:ff", dnsServers: ["2001:db8:100::3"], domainSearch: [hc.example.com]}
  routerAdvertisement: {mtu: 1400}
SPEC
  mkdir -m 0700 "$state/up"
  start_up "$state/network.yaml"
  in_namespace kernel rdisc6 -1 -w 10000 eth0 >"$state/rdisc6" 2>&1
  local line
  for line in 'Stateful address conf. *: *Yes' 'Stateful other conf. *: *Yes' 'Router lifetime *: *0 ' 'Prefix *: 2001:db8:100::/64' \
    'On-link *: *Yes' 'Autonomous address conf.: *No' 'MTU *: *1400 bytes' 'Recursive DNS server *: 2001:db8:100::3' \
    'DNS search list *: hc.example.com'; do
    expect "rdisc6: $line" 1 "$(grep -cE "$line" "$state/rdisc6")"
  done
  for _ in $(seq 200); do
    ip -n "$run-kernel" -6 route show dev eth0 | grep -q '^2001:db8:100::/64' && break
    read -rt 0.05 <> <(:)
  done
  expect "kernel: the prefix is on link" 1 "$(ip -n "$run-kernel" -6 route show dev eth0 | grep -c '^2001:db8:100::/64 .*proto kernel')"
  expect "kernel: no default route" 0 "$(ip -n "$run-kernel" -6 route show | grep -c '^default')"
  expect "kernel: no address of its own in the prefix" 0 "$(ip -n "$run-kernel" -6 address show dev eth0 scope global | grep -c inet6)"
  rm -f "$state/result" "$state/dhclient.leases"
  dhclient6 -1
  expect "dhclient -6 of hcpnet up" 1 "$(grep -c '^2001:db8:100::1:0 ' "$state/result" 2>/dev/null)"
  expect "hcpnet leases list shows it" 1 "$(in_namespace server "$command_program" leases list --state-dir "$state/up" | grep -c '^2001:db8:100::1:0 ')"
}

# As a VM comes with it: the flag of the router advertisement tells it to ask for an address. Without a service manager;
# where /sys can't be written it takes itself to be in a container, and waits for nobody.
test_networkd() {
  printf '[Match]\nName=eth0\n[Network]\nIPv6AcceptRA=yes\n' >"$state/eth0.network"
  # shellcheck disable=SC2016 # expanded inside
  in_namespace networkd unshare -m sh -c 'mount -o remount,ro /sys && mount -t tmpfs none /run &&
    mkdir -p /run/systemd/network /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp &&
    cp "$1" /run/systemd/network/ && chown -R systemd-network: /run/systemd/netif && exec "$2"' sh "$state/eth0.network" "$networkd" \
    >"$state/client.log" 2>&1 &
  client_pid=$!
  local addresses=
  for _ in $(seq 400); do
    addresses=$(ip -n "$run-networkd" -6 -o address show dev eth0 scope global | awk '{ print $4 }')
    [ -z "$addresses" ] || break
    read -rt 0.05 <> <(:)
  done
  expect "systemd-networkd: an address by DHCPv6, and no other" 2001:db8:100::1:1/128 "$addresses"
  expect "systemd-networkd: it is in the list of leases" 1 \
    "$(in_namespace server "$command_program" leases list --state-dir "$state/up" | grep -c '^2001:db8:100::1:1 *02:00:00:00:06:05 *bound')"
  expect "systemd-networkd: no default route" 0 "$(ip -n "$run-networkd" -6 route show | grep -c '^default')"
  stop_client
}

# Whose start fails has nothing to take back: hosts would drop the router that another process is.
test_failed_start() {
  stop_server TERM
  sed 's/mtu: 1400/routerLifetimeSeconds: 1800/' "$state/network.yaml" >"$state/router.yaml"
  start_up "$state/router.yaml"
  in_namespace kernel rdisc6 -1 -w 10000 eth0 >"$state/rdisc6" 2>&1
  for _ in $(seq 200); do
    ip -n "$run-kernel" -6 route show | grep -q '^default' && break
    read -rt 0.05 <> <(:)
  done
  in_namespace server timeout 60 "$command_program" up "$state/router.yaml" --state-dir "$state/up" >"$state/second" 2>&1
  expect "a second hcpnet up fails" 1 "$?"
  expect "kernel: the default route stays" 1 "$(ip -n "$run-kernel" -6 route show | grep -c '^default')"
}

# No address may have been bound to two clients, unless it was released or expired in between.
check_duplicates() {
  local duplicates
  duplicates=$(awk '$1 == "bound" || $1 == "renewed" { if (($2 in owner) && owner[$2] != $3) print $2; owner[$2] = $3 }
                    $1 == "released" || $1 == "expired" { delete owner[$2] }' "$state/events" "$state/server.out")
  expect "no address had two owners" "" "$duplicates"
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for program in ip unshare dhclient dhcpcd perfdhcp rdisc6 "$networkd"; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM
{
  printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
  cat <<'SCRIPT'
case "$reason" in
  BOUND6 | RENEW6 | REBIND6)
    echo "$new_ip6_address $new_max_life $new_dhcp6_name_servers $new_dhcp6_domain_search" >"$RESULT" ;;
esac
SCRIPT
} >"$state/dhclient.sh"
chmod +x "$state/dhclient.sh"
make_namespace server
ip -n "$run-server" link add net1 type bridge
ip -n "$run-server" address add 192.168.100.2/22 dev net1
ip -n "$run-server" link set net1 up
make_client dhclient 02:00:00:00:06:01
make_client dhcpcd 02:00:00:00:06:02
make_client perf 02:00:00:00:06:03
make_client kernel 02:00:00:00:06:04
make_client networkd 02:00:00:00:06:05
# perfdhcp sends from a global address, and names it as the link when it plays a relay; so the server needs the route back.
ip -n "$run-perf" address add 2001:db8:100::2/64 dev eth0 nodad
ip -n "$run-server" address add 2001:db8:100::1/64 dev net1 nodad
wait_for_link_local server net1

start_server
test_dhclient
test_dhcpcd
test_perfdhcp
check_duplicates
test_router_advertisement
test_networkd
test_failed_start
[ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
