#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two `hcpnet up` on one link, with one pool in a real etcd, and stock clients, in network namespaces that this run makes
# and removes. The servers reach etcd by a network of its own.
#   dhcp_shared_clients_test.sh HCPNET_COMMAND
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
command_program=$1
declare -A server_pids=()

connect() { # NAME INTERFACE BRIDGE [MAC]
  ip -n "$run-$1" link add "$2" type veth peer name "$3-$1" netns "$run-wire"
  [ -z "${4:-}" ] || ip -n "$run-$1" link set "$2" address "$4"
  ip -n "$run-wire" link set "$3-$1" master "$3" up
  ip -n "$run-$1" link set "$2" up
}

wait_for() { # WHAT COMMAND...
  wait_until 20 "${@:2}" || fail "$1 does not come about"
}

reachable() { # SERVER
  curl -s --unix-socket "$state/$1/admin.sock" http://localhost/metrics | awk '$1 ~ /^hcpnet_dhcp_shared_store_reachable/ { print $2 }'
}

reaches_etcd() { [ "$(reachable "$1")" = 1 ]; }
misses_etcd() { [ "$(reachable "$1")" = 0 ]; }

has_lease() { # SERVER ADDRESS
  "$command_program" leases list --state-dir "$state/$1" | awk '$3 == "bound" { print $1 }' | grep -qx "$2"
}

write_spec() { # SERVER ADDRESS
  cat >"$state/$1.yaml" <<SPEC
$(infra 192.168.100.0/24 "$2" 192.168.100.50 192.168.100.59)
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: shared, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: yard}
  sharedStore: {endpoints: ["http://10.77.0.1:2379"], prefix: /hcpnet/yard}
SPEC
}

start_server() { # SERVER
  [ -d "$state/$1" ] || mkdir -m 0700 "$state/$1"
  ip netns exec "$run-$1" "$command_program" up "$state/$1.yaml" --state-dir "$state/$1" >"$state/$1.out" 2>>"$state/$1.err" &
  server_pids[$1]=$!
  wait_for "that $1 reaches etcd" reaches_etcd "$1"
}

kill_server() { # SERVER
  kill -KILL "${server_pids[$1]}"
  wait "${server_pids[$1]}" 2>/dev/null
}

require udhcpc curl
# shellcheck source=scripts/tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/tools.sh"
etcd=$(tool_path etcd)
[ -x "$etcd" ] || { echo "FAILED: etcd is not installed: run scripts/tools.sh etcd"; exit 1; }
write_udhcpc_script <<'SCRIPT'
echo "$ip" >"$RESULT"
SCRIPT

make_namespace wire
make_bridge wire net1
make_bridge wire mgmt 10.77.0.1/24
for server in a b; do
  make_namespace "$server"
  connect "$server" eth0 net1
  connect "$server" eth1 mgmt
done
ip -n "$run-a" address add 192.168.100.2/24 dev eth0
ip -n "$run-a" address add 10.77.0.2/24 dev eth1
ip -n "$run-b" address add 192.168.100.3/24 dev eth0
ip -n "$run-b" address add 10.77.0.3/24 dev eth1
for client in 1 2 3 4; do
  make_namespace "c$client"
  connect "c$client" eth0 net1 "02:00:00:00:0c:0$client"
done
write_spec a 192.168.100.2
write_spec b 192.168.100.3
ip netns exec "$run-wire" "$etcd" --data-dir "$state/etcd" --unsafe-no-fsync --log-level error \
  --listen-client-urls http://10.77.0.1:2379 --advertise-client-urls http://10.77.0.1:2379 \
  --listen-peer-urls http://10.77.0.1:2380 --initial-advertise-peer-urls http://10.77.0.1:2380 \
  --initial-cluster default=http://10.77.0.1:2380 >"$state/etcd.err" 2>&1 &

start_server a
start_server b
expect "a client with two servers" 192.168.100.50 "$(run_udhcpc c1 -T 1)"
expect "another one" 192.168.100.51 "$(run_udhcpc c2 -T 1)"
for server in a b; do
  wait_for "that $server knows the first lease" has_lease "$server" 192.168.100.50
  wait_for "that $server knows the second one" has_lease "$server" 192.168.100.51
done

kill_server a
expect "one server is killed: the other one knows its clients" 192.168.100.50 "$(run_udhcpc c1 -T 1)"
expect "and takes new ones" 192.168.100.52 "$(run_udhcpc c3 -T 1)"
rm -rf "$state/a"
start_server a
expect "back without its database it knows what was given meanwhile" yes "$(has_lease a 192.168.100.52 && echo yes)"

ip -n "$run-b" link set eth1 down
wait_for "that b misses etcd" misses_etcd b
expect "a server without etcd leaves clients to the other one" 192.168.100.53 "$(run_udhcpc c4 -T 1)"
kill_server a
expect "with none that reaches etcd nobody gets an address" "" "$(run_udhcpc c2 -t 3 -T 1)"
expect "and status says why" 1 "$("$command_program" status --state-dir "$state/b" 2>&1 | grep -c 'shared store')"
ip -n "$run-b" link set eth1 up
wait_for "that b reaches etcd again" reaches_etcd b
expect "then each client has what it had" 192.168.100.51 "$(run_udhcpc c2 -T 1)"
expect "from a server that had not seen it given" 192.168.100.53 "$(run_udhcpc c4 -T 1)"

[ "$failures" = 0 ] || { cat "$state/a.err" "$state/b.err" "$state/etcd.err" "$state/client.log"; exit 1; }
