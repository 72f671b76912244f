#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pools, exclusions, client classes and a shared network of `hcpnet up`, with stock clients in network namespaces that
# this run makes and removes.
#   dhcp_pools_test.sh HCPNET_COMMAND
# Exit status: 0 good, 1 failed, 77 skipped: not root.
set -u

command_program=$1
run="hcpnet-pools-$$"
state=$(mktemp -d)
failures=0
server_pid=

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
  stop_server
  for namespace in $(ip netns list | awk -v run="$run" 'index($1, run) == 1 { print $1 }'); do
    # shellcheck disable=SC2046 # one id per word
    kill -KILL $(ip netns pids "$namespace") 2>/dev/null
    ip netns delete "$namespace"
    rm -rf "/etc/netns/${namespace:?}"
  done
  rm -rf "$state"
}

stop_server() {
  [ -n "$server_pid" ] || return 0
  kill -TERM "$server_pid" 2>/dev/null
  wait "$server_pid" 2>/dev/null
  server_pid=
}

make_namespace() { # NAME
  mkdir -p "/etc/netns/$run-$1"
  : >"/etc/netns/$run-$1/resolv.conf"   # clients write here, not into the machine's own
  ip netns add "$run-$1"
  ip -n "$run-$1" link set lo up
}

make_client() { # NAME MAC
  make_namespace "$1"
  ip -n "$run-$1" link add eth0 address "$2" type veth peer name "to-$1" netns "$run-server"
  ip -n "$run-server" link set "to-$1" master net1 up
  ip -n "$run-$1" link set eth0 up
}

in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

# What udhcpc was given: address, prefix length, router, boot file, next server.
run_udhcpc() { # NAME ARGUMENT...
  local name=$1
  shift
  rm -f "$state/result"
  in_namespace "$name" udhcpc -i eth0 -f -n -q -t 5 -T 2 -s "$state/udhcpc.sh" "$@" >"$state/client.log" 2>&1
  cat "$state/result" 2>/dev/null
}

# The pool of the network has three addresses, one of them excluded.
write_network() { # FIRST LAST EXCLUDED
  cat >"$state/network.yaml" <<SPEC
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: 192.168.100.0/24, gateway: 192.168.100.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: 192.168.100.2, rangeStart: $1, rangeEnd: $2}
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: pools, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: yard}
  exclusions: [{rangeStart: $3}]
  pools: [{rangeStart: 192.168.100.70, rangeEnd: 192.168.100.79, clientClasses: [pxe]}]
  subnets:
  - cidr: 192.168.104.0/22
    gateway: 192.168.104.1
    serverIP: 192.168.104.2
    pools: [{rangeStart: 192.168.104.50, rangeEnd: 192.168.104.59}]
  clientClasses:
  - name: pxe
    match: {vendorClasses: [PXEClient], architectures: [7, 9]}
    nextServer: 192.168.100.9
    bootFileName: shim.efi
SPEC
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

utilization() { # POOL
  "$command_program" status --state-dir "$state/up" -o json |
    awk -v pool="\"pool\": \"$1\"" '/"bound":/ { bound = $2 } index($0, pool) { print bound }' | tr -d ,
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for program in ip udhcpc; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM
{
  printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
  cat <<'SCRIPT'
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
echo "$ip $mask $router $boot_file $siaddr $serverid" >"$RESULT"
SCRIPT
} >"$state/udhcpc.sh"
chmod +x "$state/udhcpc.sh"
make_namespace server
ip -n "$run-server" link add net1 type bridge
ip -n "$run-server" address add 192.168.100.2/24 dev net1
ip -n "$run-server" address add 192.168.104.2/22 dev net1
ip -n "$run-server" link set net1 up
for n in 1 2 3 4 5; do make_client "c$n" "02:00:00:00:07:0$n"; done
write_network 192.168.100.50 192.168.100.52 192.168.100.51
start_server

expect "a plain client: the first address" "192.168.100.50 24 192.168.100.1   192.168.100.2" "$(run_udhcpc c1)"
expect "the excluded address is left out" "192.168.100.52 24 192.168.100.1   192.168.100.2" "$(run_udhcpc c2)"
expect "the pool is full: the next subnet, with its mask, router and server" "192.168.104.50 22 192.168.104.1   192.168.104.2" "$(run_udhcpc c3)"
expect "a PXE client of UEFI: its pool, boot file and next server" "192.168.100.70 24 192.168.100.1 shim.efi 192.168.100.9 192.168.100.2" \
  "$(run_udhcpc c4 -V PXEClient:Arch:00007 -x 0x5d:0007)"
expect "a PXE client of BIOS is none of them" "192.168.104.51 22 192.168.104.1   192.168.104.2" "$(run_udhcpc c5 -V PXEClient:Arch:00000 -x 0x5d:0000)"
expect "status: the first pool" 2 "$(utilization 192.168.100.50-192.168.100.52)"
expect "status: the pool of the class" 1 "$(utilization 192.168.100.70-192.168.100.79)"
expect "status: the second subnet" 2 "$(utilization 192.168.104.50-192.168.104.59)"

write_network 192.168.100.50 192.168.100.51 192.168.100.50
expect "reload: the pool shrinks" 0 "$("$command_program" reload --state-dir "$state/up" >"$state/reload" 2>&1; echo $?)"
expect "what is in use outside the pools is kept" 5 "$("$command_program" leases list --state-dir "$state/up" | grep -c bound)"
expect "and its client gets another address" "192.168.100.51 24 192.168.100.1   192.168.100.2" "$(run_udhcpc c1)"
expect "the others keep theirs" "192.168.104.50 22 192.168.104.1   192.168.104.2" "$(run_udhcpc c3)"

sed -i 's/architectures/architecture/; s/clientClasses: \[pxe\]/clientClasses: [efi]/' "$state/network.yaml"
"$command_program" reload --state-dir "$state/up" >"$state/reload" 2>&1
expect "a bad reload is refused with every line" 2 "$(grep -cE 'network.yaml:[0-9]+:[0-9]+: error' "$state/reload")"

[ "$failures" = 0 ] || { cat "$state/server.err"; exit 1; }
