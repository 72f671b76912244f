#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leases on a disk that is full: a small tmpfs, filled while `hcpnet up` runs on it, with stock clients in network
# namespaces that this run makes and removes.
#   dhcp_disk_test.sh HCPNET_COMMAND
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
command_program=$1
up="$state/disk/up"

clean_up() {
  stop_server TERM
  remove_namespaces
  ! mountpoint -q "$state/disk" || umount "$state/disk"
  rm -rf "$state"
}

leases() {
  "$command_program" leases list --state-dir "$up" | awk '$3 == "bound" { print $1, $2 }'
}

require udhcpc curl mountpoint
write_udhcpc_script <<'SCRIPT'
echo "$ip" >"$RESULT"
echo "$lease" >"$RESULT.lease"
SCRIPT
infra 192.168.100.0/24 192.168.100.2 192.168.100.50 192.168.100.59 >"$state/network.yaml"
mkdir "$state/disk"
mount -t tmpfs -o size=1m none "$state/disk" || skip "needs the right to mount"
make_namespace server
make_bridge server net1 192.168.100.2/24
make_client c1 02:00:00:00:0b:01
make_client c2 02:00:00:00:0b:02

start_up "$state/network.yaml"
expect "a lease while there is room" 192.168.100.50 "$(run_udhcpc c1 -T 1)"
cat /dev/zero >"$state/disk/filling" 2>/dev/null
expect "the disk is full: no new lease" "" "$(run_udhcpc c2 -t 3 -T 1)"
expect "a client that comes back has its address" 192.168.100.50 "$(run_udhcpc c1 -t 3 -T 1)"
expect "for the time that is left of its lease" yes "$([ "$(cat "$state/result.lease")" -lt 3600 ] && echo yes)"
expect "the server lives" 0 "$(kill -0 "$server_pid"; echo $?)"
expect "and is not well" 0 "$(metric hcpnet_up)"
expect "failures are counted" yes "$([ "$(metric hcpnet_dhcp_commit_failures_total)" -gt 0 ] && echo yes)"
expect "one alarm in the log" 1 "$(grep -c 'leases cannot be stored' "$state/server.err")"
expect "only what was acknowledged is a lease" "192.168.100.50 02:00:00:00:0b:01" "$(leases)"
rm "$state/disk/filling"
expect "room again: the new client" 192.168.100.51 "$(run_udhcpc c2 -T 1)"
expect "and the old one, at its address" 192.168.100.50 "$(run_udhcpc c1 -T 1)"
expect "all is well" 1 "$(metric hcpnet_up)"
expect "and the log says so" 1 "$(grep -c 'leases are stored again' "$state/server.err")"
stop_server KILL
start_up "$state/network.yaml"
expect "after kill -9 both leases are there" "192.168.100.50 02:00:00:00:0b:01
192.168.100.51 02:00:00:00:0b:02" "$(leases)"
cat /dev/zero >"$state/disk/filling" 2>/dev/null
stop_server KILL
expect "killed while the disk is full: both are there" "192.168.100.50 02:00:00:00:0b:01
192.168.100.51 02:00:00:00:0b:02" "$(rm "$state/disk/filling"; leases)"

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/client.log"; exit 1; }
