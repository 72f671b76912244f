#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Addresses that somebody uses already, met by the probe of `hcpnet up`: by ARP on its link, and by ICMP echo behind
# dnsmasq as a relay. Stock clients, in network namespaces that this run makes and removes.
#   dhcp_probe_test.sh HCPNET_COMMAND
# Exit status: 0 good, 1 failed, 77 skipped: not root.
set -u

command_program=$1
run="hcpnet-probe-$$"
state=$(mktemp -d)
failures=0
server_pid=
relay_pid=

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
  for pid in $server_pid $relay_pid; do
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

plug() { # NAME INTERFACE MAC BRIDGE-NAMESPACE BRIDGE
  ip -n "$run-$1" link add "$2" address "$3" type veth peer name "to-$1" netns "$run-$4"
  ip -n "$run-$4" link set "to-$1" master "$5" up
  ip -n "$run-$1" link set "$2" up
}

make_host() { # NAME MAC BRIDGE-NAMESPACE BRIDGE
  make_namespace "$1"
  plug "$1" eth0 "$2" "$3" "$4"
}

in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

run_udhcpc() { # NAME: the address that it was given
  rm -f "$state/result"
  in_namespace "$1" udhcpc -i eth0 -f -n -q -t 5 -T 3 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1
  cat "$state/result" 2>/dev/null
}

# The link of the server has one subnet of its own and one behind a relay; the first one gives addresses only if nothing
# is excluded.
write_network() { # EXCLUSIONS PROBE
  cat >"$state/network.yaml" <<SPEC
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: 192.168.100.0/24, gateway: 192.168.100.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: 192.168.100.2, rangeStart: 192.168.100.50, rangeEnd: 192.168.100.59}
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: probe, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: yard}
  exclusions: [$1]
  subnets:
  - cidr: 192.168.104.0/24
    gateway: 192.168.104.1
    pools: [{rangeStart: 192.168.104.50, rangeEnd: 192.168.104.59}]
  $2
SPEC
}

reload() {
  "$command_program" reload --state-dir "$state/up" >"$state/reload" 2>&1
  echo $?
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

metric() { # RESULT
  curl -s --unix-socket "$state/up/admin.sock" http://localhost/metrics |
    awk -v wanted="hcpnet_dhcp_probes_total{result=\"$1\"}" '$1 == wanted { print $2 }'
}

declined() {
  "$command_program" leases list --state-dir "$state/up" | awk '/declined/ { print $1 }' | tr '\n' ' '
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for program in ip udhcpc dnsmasq curl setpriv; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM
{
  printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
  cat <<'SCRIPT'
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
echo "$ip" >"$RESULT"
SCRIPT
} >"$state/udhcpc.sh"
chmod +x "$state/udhcpc.sh"

make_namespace server
ip -n "$run-server" link add net1 type bridge
ip -n "$run-server" address add 192.168.100.2/24 dev net1
ip -n "$run-server" link set net1 up
make_host c1 02:00:00:00:08:01 server net1
make_host c2 02:00:00:00:08:02 server net1
make_host c3 02:00:00:00:08:03 server net1
make_host squatter 02:00:00:00:08:99 server net1
for n in 50 51; do ip -n "$run-squatter" address add "192.168.100.$n/24" dev eth0; done
# The relay, and the link behind it.
make_namespace relay
ip -n "$run-relay" link add far type bridge
ip -n "$run-relay" address add 192.168.104.1/24 dev far
ip -n "$run-relay" link set far up
plug relay near 02:00:00:00:08:fe server net1
ip -n "$run-relay" address add 192.168.100.9/24 dev near
in_namespace relay sysctl -qw net.ipv4.ip_forward=1
ip -n "$run-server" route add 192.168.104.0/24 via 192.168.100.9
make_host f1 02:00:00:00:08:11 relay far
make_host f2 02:00:00:00:08:12 relay far
make_host fsquatter 02:00:00:00:08:98 relay far
ip -n "$run-fsquatter" address add 192.168.104.50/24 dev eth0
ip -n "$run-fsquatter" route add default via 192.168.104.1
in_namespace relay dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 --user=root --pid-file= \
  --dhcp-relay=192.168.104.1,192.168.100.2 >"$state/relay.log" 2>&1 &
relay_pid=$!

write_network "" ""
start_server
expect "without a probe an address in use is given" 192.168.100.50 "$(run_udhcpc c1)"
write_network "" "probe: {timeoutMilliseconds: 200}"
expect "a reload turns the probe on" 0 "$(reload)"
expect "what a client is bound to is not asked for" 192.168.100.50 "$(run_udhcpc c1)"
expect "ARP: the address that is in use is passed over" 192.168.100.52 "$(run_udhcpc c2)"
expect "it rests" "192.168.100.51 " "$(declined)"
expect "and the log names who has it" 1 "$(grep -c 'address in use.*192.168.100.51.*02:00:00:00:08:99' "$state/server.err")"
ip -n "$run-c3" address add 192.168.100.53/24 dev eth0
expect "ARP: a client's own answer is none" 192.168.100.53 "$(run_udhcpc c3)"
expect "metrics: answered" 1 "$(metric answered)"
expect "metrics: unanswered" 2 "$(metric unanswered)"

write_network "{rangeStart: 192.168.100.50, rangeEnd: 192.168.100.59}" "probe: {timeoutMilliseconds: 200}"
expect "reload: the own subnet gives nothing any more" 0 "$(reload)"
expect "ICMP through a relay: the address that is in use is passed over" 192.168.104.51 "$(run_udhcpc f1)"
expect "it rests too" "192.168.100.51 192.168.104.50 " "$(declined)"
expect "the next client behind the relay" 192.168.104.52 "$(run_udhcpc f2)"
expect "metrics: answered by echo as well" 2 "$(metric answered)"

write_network "" ""
expect "a reload turns the probe off" 0 "$(reload)"
kill -TERM "$server_pid"
wait "$server_pid"
chmod 0711 "$state"
install -m 0755 "$command_program" "$state/hcpnet"   # the build folder may be closed to the unprivileged user
command_program="$state/hcpnet"
write_network "" "probe: {}"
chmod 0644 "$state/network.yaml"
mkdir -m 0700 "$state/unprivileged"
chown nobody:nogroup "$state/unprivileged"
in_namespace server timeout 20 setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set "-all,+net_bind_service" \
  --inh-caps "-all,+net_bind_service" --ambient-caps "-all,+net_bind_service" "$command_program" up "$state/network.yaml" \
  --state-dir "$state/unprivileged" >"$state/server.out" 2>"$state/unprivileged.err"
expect "without CAP_NET_RAW the start is refused" 1 "$?"
expect "with the reason" 1 "$(grep -c 'cannot probe addresses at interface net1' "$state/unprivileged.err")"
server_pid=

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/relay.log"; exit 1; }
