#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leases on a disk that is full: a small tmpfs, filled while `hcpnet up` runs on it, with stock clients in network
# namespaces that this run makes and removes.
#   dhcp_disk_test.sh HCPNET_COMMAND
# Exit status: 0 good, 1 failed, 77 skipped: not root.
set -u

command_program=$1
run="hcpnet-disk-$$"
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
  stop_server TERM
  for namespace in $(ip netns list | awk -v run="$run" 'index($1, run) == 1 { print $1 }'); do
    # shellcheck disable=SC2046 # one id per word
    kill -KILL $(ip netns pids "$namespace") 2>/dev/null
    ip netns delete "$namespace"
    rm -rf "/etc/netns/${namespace:?}"
  done
  ! mountpoint -q "$state/disk" || umount "$state/disk"
  rm -rf "$state"
}

stop_server() { # SIGNAL
  [ -n "$server_pid" ] || return 0
  kill "-$1" "$server_pid" 2>/dev/null
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

run_udhcpc() { # NAME TRIES: the address that it was given
  rm -f "$state/result"
  ip netns exec "$run-$1" udhcpc -i eth0 -f -n -q -t "$2" -T 1 -s "$state/udhcpc.sh" >"$state/client.log" 2>&1
  cat "$state/result" 2>/dev/null
}

start_server() {
  ip netns exec "$run-server" "$command_program" up "$state/network.yaml" --state-dir "$state/disk/up" >"$state/server.out" 2>>"$state/server.err" &
  server_pid=$!
  for _ in $(seq 400); do
    "$command_program" status --state-dir "$state/disk/up" >/dev/null 2>&1 && return
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
  echo "FAILED: the server did not start: $(cat "$state/server.err")"
  exit 1
}

metric() { # NAME
  curl -s --unix-socket "$state/disk/up/admin.sock" http://localhost/metrics | awk -v name="$1" '$1 == name { print $2 }'
}

leases() {
  "$command_program" leases list --state-dir "$state/disk/up" | awk '$3 == "bound" { print $1, $2 }'
}

[ "$(id -u)" = 0 ] || skip "needs root for network namespaces and a disk"
for program in ip udhcpc curl mountpoint; do
  command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
done
trap clean_up EXIT
trap 'exit 1' INT TERM
{
  printf '#!/bin/sh\nRESULT=%s\n' "$state/result"   # a client does not pass its environment on
  cat <<'SCRIPT'
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
echo "$ip" >"$RESULT"
echo "$lease" >"$RESULT.lease"
SCRIPT
} >"$state/udhcpc.sh"
chmod +x "$state/udhcpc.sh"
cat >"$state/network.yaml" <<'SPEC'
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: 192.168.100.0/24, gateway: 192.168.100.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: 192.168.100.2, rangeStart: 192.168.100.50, rangeEnd: 192.168.100.59}
SPEC
mkdir "$state/disk"
mount -t tmpfs -o size=1m none "$state/disk" || skip "needs the right to mount"
mkdir -m 0700 "$state/disk/up"
make_namespace server
ip -n "$run-server" link add net1 type bridge
ip -n "$run-server" address add 192.168.100.2/24 dev net1
ip -n "$run-server" link set net1 up
make_client c1 02:00:00:00:0b:01
make_client c2 02:00:00:00:0b:02

start_server
expect "a lease while there is room" 192.168.100.50 "$(run_udhcpc c1 5)"
cat /dev/zero >"$state/disk/filling" 2>/dev/null
expect "the disk is full: no new lease" "" "$(run_udhcpc c2 3)"
expect "a client that comes back has its address" 192.168.100.50 "$(run_udhcpc c1 3)"
expect "for the time that is left of its lease" yes "$([ "$(cat "$state/result.lease")" -lt 3600 ] && echo yes)"
expect "the server lives" 0 "$(kill -0 "$server_pid"; echo $?)"
expect "and is not well" 0 "$(metric hcpnet_up)"
expect "failures are counted" yes "$([ "$(metric hcpnet_dhcp_commit_failures_total)" -gt 0 ] && echo yes)"
expect "one alarm in the log" 1 "$(grep -c 'leases cannot be stored' "$state/server.err")"
expect "only what was acknowledged is a lease" "192.168.100.50 02:00:00:00:0b:01" "$(leases)"
rm "$state/disk/filling"
expect "room again: the new client" 192.168.100.51 "$(run_udhcpc c2 5)"
expect "and the old one, at its address" 192.168.100.50 "$(run_udhcpc c1 5)"
expect "all is well" 1 "$(metric hcpnet_up)"
expect "and the log says so" 1 "$(grep -c 'leases are stored again' "$state/server.err")"
stop_server KILL
start_server
expect "after kill -9 both leases are there" "192.168.100.50 02:00:00:00:0b:01
192.168.100.51 02:00:00:00:0b:02" "$(leases)"
cat /dev/zero >"$state/disk/filling" 2>/dev/null
stop_server KILL
expect "killed while the disk is full: both are there" "192.168.100.50 02:00:00:00:0b:01
192.168.100.51 02:00:00:00:0b:02" "$(rm "$state/disk/filling"; leases)"

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
