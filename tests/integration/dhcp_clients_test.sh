#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stock DHCP clients against the server, in network namespaces that this run makes and removes.
#   dhcp_clients_test.sh PATH-OF-dhcp_test_server
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
server_program=$1

start_server() { # CAPABILITIES: as an unprivileged user with these
  : >"$state/server.out"
  ip netns exec "$run-server" setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set "-all,$1" --inh-caps "-all,$1" \
    --ambient-caps "-all,$1" "$server_program" --database "$state/db/leases.db" --server 192.168.100.2 --cidr 192.168.100.0/22 \
    --pool 192.168.100.50-192.168.100.99 --router 192.168.100.1 --dns 192.168.100.3 --domain hc.example.com --lease 600 \
    >>"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  wait_for_server grep -q '^ready' "$state/server.out"
}

test_udhcpc() {
  expect "udhcpc: address and options" "192.168.100.50 22 192.168.100.1 192.168.100.3 hc.example.com 600" "$(run_udhcpc udhcpc)"
  expect "udhcpc: the client answers at its address" 0 "$(in_namespace server busybox ping -c 1 -W 2 192.168.100.50 >"$state/ping" 2>&1; echo $?)"
}

test_dhclient() {
  local arguments=(-4 -sf "$state/dhclient.sh" -lf "$state/dhclient.leases" -pf "$state/dhclient.pid" eth0)
  rm -f "$state/result"
  in_namespace dhclient dhclient -1 "${arguments[@]}" >"$state/client.log" 2>&1
  expect "dhclient: address and options" "192.168.100.51 255.255.252.0 192.168.100.1 192.168.100.3 hc.example.com 600" \
    "$(cat "$state/result" 2>/dev/null)"
  in_namespace dhclient dhclient -x "${arguments[@]}" >"$state/client.log" 2>&1   # ends without a release
  rm -f "$state/result"
  in_namespace dhclient dhclient -1 "${arguments[@]}" >"$state/client.log" 2>&1
  expect "dhclient: the same address after its restart" 192.168.100.51 "$(cut -d' ' -f1 "$state/result" 2>/dev/null)"
  in_namespace dhclient dhclient -r "${arguments[@]}" >"$state/client.log" 2>&1
  wait_until 5 grep -q '^released 192.168.100.51' "$state/server.out"
  expect "dhclient: release" 1 "$(grep -c '^released 192.168.100.51' "$state/server.out")"
}

test_dhcpcd() {
  # Its state folders are fixed, so it gets empty ones of its own; --oneshot ends when the address is there.
  # shellcheck disable=SC2016 # expanded inside
  in_namespace dhcpcd unshare -m sh -c 'mount -t tmpfs none /run && mount -t tmpfs none /var/lib/dhcpcd &&
    dhcpcd -4 --oneshot --nobackground --noarp --timeout 20 --script /bin/true eth0' >"$state/client.log" 2>&1
  expect "dhcpcd: address" "192.168.100.52/22" "$(addresses -4 dhcpcd)"
}

test_other_interface() {  # DHC-41
  expect "a client on another interface gets no answer" "" "$(run_udhcpc other -t 2 -T 1)"
  expect "and no lease" 0 "$(grep -c '02:00:00:00:09:01' "$state/server.out")"
}

test_own_address() {  # DHC-31: what looks as if it were our own, come back
  expect "a client with the server's hardware address gets no answer" "" "$(run_udhcpc mirror -t 2 -T 1)"
  expect "because of that" 1 "$(grep -c '^message dropped reason=own_message' "$state/server.err")"
}

test_restart() {
  stop_server KILL
  start_server +net_bind_service,+net_raw
  expect "after kill -9 the client gets its address again" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
}

make_net1() {  # the address with a label, as ifupdown gives to a second one
  ip -n "$run-server" link add net1 address 02:00:00:00:01:fe type bridge
  ip -n "$run-server" address add 192.168.100.2/22 dev net1 label net1:dhcp
  ip -n "$run-server" link set net1 up
}

# With the cable of udhcpc's machine, when the server has found it: it looks every two seconds.
make_net1_again() {
  make_net1
  ip -n "$run-server" link set to-udhcpc master net1
  wait_until 10 grep -q '^interface is back' "$state/server.err"
}

test_interface_comes_and_goes() {  # DHC-41
  ip -n "$run-server" link delete net1
  make_net1_again
  expect "an interface that was made anew is served" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
  stop_server TERM
  ip -n "$run-server" link delete net1
  start_server +net_bind_service,+net_raw
  expect "without its interface the server starts and says so" 1 "$(grep -c '^interface is not there yet .*address=192.168.100.2' "$state/server.err")"
  make_net1_again
  expect "and serves it when it comes" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
}

test_without_raw_socket() {
  stop_server TERM
  start_server +net_bind_service
  expect "without CAP_NET_RAW the server says that it broadcasts" 1 "$(grep -c 'subnet served .*replies=broadcast' "$state/server.err")"
  expect "and a client that asks for unicast is served all the same" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
}

require setpriv unshare busybox udhcpc dhclient dhcpcd

chmod 0711 "$state"
install -m 0755 "$server_program" "$state/server"   # the build folder may be closed to the unprivileged user
server_program="$state/server"
mkdir "$state/db"
chown nobody:nogroup "$state/db"
write_udhcpc_script <<'SCRIPT'
echo "$ip $mask $router $dns $domain $lease" >"$RESULT"
ip address replace "$ip/$mask" dev "$interface"
SCRIPT
write_client_script dhclient.sh <<'SCRIPT'
case "$reason" in
  BOUND | RENEW | REBIND | REBOOT)
    echo "$new_ip_address $new_subnet_mask $new_routers $new_domain_name_servers $new_domain_name $new_dhcp_lease_time" >"$RESULT"
    ip address replace "$new_ip_address/$new_subnet_mask" dev "$interface" ;;
esac
SCRIPT
make_namespace server
make_net1
make_bridge server eth0 10.128.0.7/23
make_client udhcpc 02:00:00:00:01:01
make_client dhclient 02:00:00:00:01:02
make_client dhcpcd 02:00:00:00:01:03
make_client mirror 02:00:00:00:01:fe
make_client other 02:00:00:00:09:01 eth0

start_server +net_bind_service,+net_raw
expect "the server sends unicast frames" 1 "$(grep -c 'subnet served .*replies=unicast frame' "$state/server.err")"
test_udhcpc
test_dhclient
test_dhcpcd
test_other_interface
test_own_address
test_restart
test_interface_comes_and_goes
test_without_raw_socket
check_duplicates
[ "$failures" = 0 ]
