#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stock DHCP clients against the server, in network namespaces that this run makes and removes.
#   dhcp_clients_test.sh PATH-OF-dhcp_test_server
# Exit status: 0 good, 1 failed, 77 skipped: not root.
set -u

server_program=$1
run="hcpnet-dhcp-$$"
state=$(mktemp -d)
failures=0
server_pid=

skip() {
  echo "SKIPPED: $1"
  exit 77
}

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

expect() { # WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then echo "ok: $1"; else fail "$1: expected '$2', found '$3'"; fi
}

clean_up() {
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
  in_namespace "$1" ip link set lo up
}

in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

make_client() { # NAME MAC BRIDGE: a namespace whose eth0 is plugged into the bridge of the server's namespace
  make_namespace "$1"
  ip -n "$run-$1" link add eth0 address "$2" type veth peer name "to-$1" netns "$run-server"
  ip -n "$run-server" link set "to-$1" master "$3" up
  ip -n "$run-$1" link set eth0 up
}

start_server() { # CAPABILITIES: as an unprivileged user with these
  : >"$state/server.out"
  # Not through in_namespace: $! has to be the server, which takes the place of ip and setpriv.
  ip netns exec "$run-server" setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set "-all,$1" --inh-caps "-all,$1" \
    --ambient-caps "-all,$1" "$server_program" --database "$state/db/leases.db" --server 192.168.100.2 --cidr 192.168.100.0/22 \
    --pool 192.168.100.50-192.168.100.99 --router 192.168.100.1 --dns 192.168.100.3 --domain hc.example.com --lease 600 \
    >>"$state/server.out" 2>"$state/server.err" &
  server_pid=$!
  for _ in $(seq 200); do
    grep -q '^ready' "$state/server.out" && return 0
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
  fail "the server did not start: $(cat "$state/server.err")"
  return 1
}

stop_server() { # SIGNAL
  [ -n "$server_pid" ] || return 0
  cat "$state/server.out" >>"$state/events"
  kill "-$1" "$server_pid" 2>/dev/null
  wait "$server_pid" 2>/dev/null
  server_pid=
}

# The script that udhcpc and dhclient call: keeps what was received, sets the address.
write_client_scripts() {
  {
    printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
    cat <<'SCRIPT'
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
echo "$ip $mask $router $dns $domain $lease" >"$RESULT"
ip address replace "$ip/$mask" dev "$interface"
SCRIPT
  } >"$state/udhcpc.sh"
  {
    printf '#!/bin/sh\nRESULT=%s\n' "$state/result"
    cat <<'SCRIPT'
case "$reason" in
  BOUND | RENEW | REBIND | REBOOT)
    echo "$new_ip_address $new_subnet_mask $new_routers $new_domain_name_servers $new_domain_name $new_dhcp_lease_time" >"$RESULT"
    ip address replace "$new_ip_address/$new_subnet_mask" dev "$interface" ;;
esac
SCRIPT
  } >"$state/dhclient.sh"
  chmod +x "$state"/*.sh
}

run_udhcpc() { # NAME: prints what was received
  rm -f "$state/result"
  in_namespace "$1" udhcpc -i eth0 -f -n -q -t 5 -T 2 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1
  cat "$state/result" 2>/dev/null
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
  for _ in $(seq 100); do
    grep -q '^released 192.168.100.51' "$state/server.out" && break
    read -rt 0.05 <> <(:)
  done
  expect "dhclient: release" 1 "$(grep -c '^released 192.168.100.51' "$state/server.out")"
}

test_dhcpcd() {
  # Its state folders are fixed, so it gets empty ones of its own; --oneshot ends when the address is there.
  # shellcheck disable=SC2016 # expanded inside
  in_namespace dhcpcd unshare -m sh -c 'mount -t tmpfs none /run && mount -t tmpfs none /var/lib/dhcpcd &&
    dhcpcd -4 --oneshot --nobackground --noarp --timeout 20 --script /bin/true eth0' >"$state/client.log" 2>&1
  expect "dhcpcd: address" "192.168.100.52/22" "$(in_namespace dhcpcd ip -4 -o address show dev eth0 | awk '{ print $4 }')"
}

test_other_interface() {  # DHC-41
  rm -f "$state/result"
  in_namespace other udhcpc -i eth0 -f -n -q -t 2 -T 1 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1
  expect "a client on another interface gets no answer" "" "$(cat "$state/result" 2>/dev/null)"
  expect "and no lease" 0 "$(grep -c '02:00:00:00:09:01' "$state/server.out")"
}

test_own_address() {  # DHC-31: what looks as if it were our own, come back
  rm -f "$state/result"
  in_namespace mirror udhcpc -i eth0 -f -n -q -t 2 -T 1 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1
  expect "a client with the server's hardware address gets no answer" "" "$(cat "$state/result" 2>/dev/null)"
  expect "because of that" 1 "$(grep -c '^message dropped reason=own_message' "$state/server.err")"
}

test_restart() {
  stop_server KILL
  start_server +net_bind_service,+net_raw || return
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
  for _ in $(seq 200); do
    grep -q '^interface is back' "$state/server.err" && return
    read -rt 0.05 <> <(:)
  done
}

test_interface_comes_and_goes() {  # DHC-41
  ip -n "$run-server" link delete net1
  make_net1_again
  expect "an interface that was made anew is served" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
  stop_server TERM
  ip -n "$run-server" link delete net1
  start_server +net_bind_service,+net_raw || return
  expect "without its interface the server starts and says so" 1 "$(grep -c '^interface is not there yet .*address=192.168.100.2' "$state/server.err")"
  make_net1_again
  expect "and serves it when it comes" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
}

test_without_raw_socket() {
  stop_server TERM
  start_server +net_bind_service || return
  expect "without CAP_NET_RAW the server says that it broadcasts" 1 "$(grep -c 'subnet served .*replies=broadcast' "$state/server.err")"
  expect "and a client that asks for unicast is served all the same" 192.168.100.50 "$(run_udhcpc udhcpc | cut -d' ' -f1)"
}

# No address may have been bound to two clients, unless it was released or expired in between.
check_duplicates() {
  local duplicates
  duplicates=$(awk '$1 == "bound" || $1 == "renewed" { if (($2 in owner) && owner[$2] != $3) print $2; owner[$2] = $3 }
                    $1 == "released" || $1 == "expired" { delete owner[$2] }' "$state/events" "$state/server.out")
  expect "no address had two owners" "" "$duplicates"
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for program in ip setpriv unshare busybox udhcpc dhclient dhcpcd; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM

chmod 0711 "$state"
install -m 0755 "$server_program" "$state/server"   # the build folder may be closed to the unprivileged user
server_program="$state/server"
mkdir "$state/db"
chown nobody:nogroup "$state/db"
write_client_scripts
make_namespace server
make_net1
ip -n "$run-server" link add eth0 type bridge
ip -n "$run-server" address add 10.128.0.7/23 dev eth0
ip -n "$run-server" link set eth0 up
make_client udhcpc 02:00:00:00:01:01 net1
make_client dhclient 02:00:00:00:01:02 net1
make_client dhcpcd 02:00:00:00:01:03 net1
make_client mirror 02:00:00:00:01:fe net1
make_client other 02:00:00:00:09:01 eth0

start_server +net_bind_service,+net_raw || exit 1
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
