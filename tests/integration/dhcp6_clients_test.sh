#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stock DHCPv6 clients in network namespaces of their own against the server, and router advertisements of `hcpnet up`:
# dhcp6_clients_test.sh SERVER_PROGRAM HCPNET_COMMAND
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
server_program=$1
command_program=$2

# A link-local address can be used when duplicate address detection has ended.
has_link_local() { # NAME INTERFACE
  ip -n "$run-$1" -6 -o address show dev "$2" scope link | grep -v tentative | grep -q fe80
}

wait_for_link_local() { # NAME INTERFACE
  wait_until 5 has_link_local "$1" "$2" || fail "$1 has no link-local address"
}

start_server() { # OPTION...
  : >"$state/server.out"
  ip netns exec "$run-server" "$server_program" --database "$state/leases.db" --server 192.168.100.2 --cidr 192.168.100.0/22 \
    --pool 192.168.100.50-192.168.100.99 --lease 600 --cidr6 2001:db8:100::/64 --pool6 2001:db8:100::50-2001:db8:100::ffff \
    --dns6 2001:db8:100::3 --search6 hc.example.com "$@" >>"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  wait_for_server grep -q '^ready' "$state/server.out"
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
  wait_until 5 grep -q '^released 2001:db8:100::50' "$state/server.out"
  expect "dhclient -6: release" 1 "$(grep -c '^released 2001:db8:100::50' "$state/server.out")"
}

# No configuration by router advertisements here, so dhcpcd is told to solicit.
test_dhcpcd() {
  printf 'noipv6rs\ninterface eth0\nduid\niaid 1\ndhcp6\nia_na 1\n' >"$state/dhcpcd.conf"
  # shellcheck disable=SC2016 # expanded inside
  in_namespace dhcpcd unshare -m sh -c 'mount -t tmpfs none /run && mount -t tmpfs none /var/lib/dhcpcd &&
    dhcpcd -6 -f "$1" --oneshot --nobackground --timeout 20 --script /bin/true eth0' sh "$state/dhcpcd.conf" >"$state/client.log" 2>&1
  expect "dhcpcd: address" 2001:db8:100::51/128 "$(addresses -6 dhcpcd)"
}

test_perfdhcp() {
  stop_server TERM
  start_server --identity6 duid
  in_namespace perf timeout 60 perfdhcp -6 -l eth0 -r 200 -R 500 -n 500 -W 2 all >"$state/perf" 2>&1
  expect "perfdhcp -6, direct: answered, each with an address of its own" yes "$(judge_perfdhcp)"
  in_namespace perf timeout 60 perfdhcp -6 -A1 -l eth0 -r 200 -R 500 -n 500 -W 2 all >"$state/perf" 2>&1
  expect "perfdhcp -6, relayed: answered, each with an address of its own" yes "$(judge_perfdhcp)"
}

start_router() { # SPEC
  : >"$state/server.err"
  start_up "$1"
  wait_until 20 grep -q 'router advertisements sent' "$state/server.err"
}

has_route() { # PATTERN
  ip -n "$run-kernel" -6 route show dev eth0 | grep -q "$1"
}

# The whole way: from a spec through `hcpnet up` to what a kernel and rdisc6 make of it.
test_router_advertisement() {
  stop_server TERM
  cat >"$state/network.yaml" <<SPEC
$(infra 192.168.100.0/22 192.168.100.2 192.168.100.50 192.168.100.99)
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: v6, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: yard}
  ipv6: {cidr: "2001:db8:100::/64", rangeStart: "2001:db8:100::1:0", rangeEnd: "2001:db8:100::1:ff", dnsServers: ["2001:db8:100::3"], domainSearch: [hc.example.com]}
  routerAdvertisement: {mtu: 1400}
SPEC
  start_router "$state/network.yaml"
  in_namespace kernel rdisc6 -1 -w 10000 eth0 >"$state/rdisc6" 2>&1
  local line
  for line in 'Stateful address conf. *: *Yes' 'Stateful other conf. *: *Yes' 'Router lifetime *: *0 ' 'Prefix *: 2001:db8:100::/64' \
    'On-link *: *Yes' 'Autonomous address conf.: *No' 'MTU *: *1400 bytes' 'Recursive DNS server *: 2001:db8:100::3' \
    'DNS search list *: hc.example.com'; do
    expect "rdisc6: $line" 1 "$(grep -cE "$line" "$state/rdisc6")"
  done
  wait_until 10 has_route '^2001:db8:100::/64'
  expect "kernel: the prefix is on link" 1 "$(ip -n "$run-kernel" -6 route show dev eth0 | grep -c '^2001:db8:100::/64 .*proto kernel')"
  expect "kernel: no default route" 0 "$(ip -n "$run-kernel" -6 route show | grep -c '^default')"
  expect "kernel: no address of its own in the prefix" 0 "$(ip -n "$run-kernel" -6 address show dev eth0 scope global | grep -c inet6)"
  rm -f "$state/result" "$state/dhclient.leases"
  dhclient6 -1
  expect "dhclient -6 of hcpnet up" 1 "$(grep -c '^2001:db8:100::1:0 ' "$state/result" 2>/dev/null)"
  expect "hcpnet leases list shows it" 1 "$(in_namespace server "$command_program" leases list --state-dir "$up" | grep -c '^2001:db8:100::1:0 ')"
}

# As a VM comes with it: the flag of the router advertisement tells it to ask for an address.
test_networkd() {
  start_networkd <<<$'[Match]\nName=eth0\n[Network]\nIPv6AcceptRA=yes'
  wait_until 20 has_address -6 networkd
  expect "systemd-networkd: an address by DHCPv6, and no other" 2001:db8:100::1:1/128 "$(addresses -6 networkd)"
  expect "systemd-networkd: it is in the list of leases" 1 \
    "$(in_namespace server "$command_program" leases list --state-dir "$up" | grep -c '^2001:db8:100::1:1 *02:00:00:00:06:05 *bound')"
  expect "systemd-networkd: no default route" 0 "$(ip -n "$run-networkd" -6 route show | grep -c '^default')"
  stop_client
}

# Whose start fails has nothing to take back: hosts would drop the router that another process is.
test_failed_start() {
  stop_server TERM
  sed 's/mtu: 1400/routerLifetimeSeconds: 1800/' "$state/network.yaml" >"$state/router.yaml"
  start_router "$state/router.yaml"
  in_namespace kernel rdisc6 -1 -w 10000 eth0 >"$state/rdisc6" 2>&1
  wait_until 10 has_route '^default'
  in_namespace server timeout 60 "$command_program" up "$state/router.yaml" --state-dir "$up" >"$state/second" 2>&1
  expect "a second hcpnet up fails" 1 "$?"
  expect "kernel: the default route stays" 1 "$(ip -n "$run-kernel" -6 route show | grep -c '^default')"
}

require unshare dhclient dhcpcd perfdhcp rdisc6 "$networkd"
write_client_script dhclient.sh <<'SCRIPT'
case "$reason" in
  BOUND6 | RENEW6 | REBIND6)
    echo "$new_ip6_address $new_max_life $new_dhcp6_name_servers $new_dhcp6_domain_search" >"$RESULT" ;;
esac
SCRIPT
make_namespace server
make_bridge server net1 192.168.100.2/22
make_client dhclient 02:00:00:00:06:01
make_client dhcpcd 02:00:00:00:06:02
make_client perf 02:00:00:00:06:03
make_client kernel 02:00:00:00:06:04
make_client networkd 02:00:00:00:06:05
for client in dhclient dhcpcd perf kernel networkd; do wait_for_link_local "$client" eth0; done
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
