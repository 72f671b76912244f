# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests in network namespaces share; sourced by each of them. A server has the namespace "server", clients have
# one each, and all of it is gone when the test ends, however it ends.
# Exit status of a test: 0 good, 1 failed, 77 skipped: not root.

test_name=${0##*/}
run="hcpnet-${test_name%_test.sh}-$$"   # names of namespaces start with it, so that tests can run side by side
state=$(mktemp -d)
up="$state/up"                          # the state folder of `hcpnet up`
failures=0
command_program=                        # hcpnet, for start_up
server_pid=
client_pid=
networkd=/usr/lib/systemd/systemd-networkd

# --- the test

skip() { # REASON
  echo "SKIPPED: $1"
  exit 77
}

fail() { # WHAT
  echo "FAILED: $1"
  failures=$((failures + 1))
}

expect() { # WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then echo "ok: $1"; else fail "$1: expected '$2', found '$3'"; fi
}

# Without root the test is skipped, without a program it fails.
require() { # PROGRAM...
  [ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
  for program in ip "$@"; do
    command -v "$program" >/dev/null || { echo "FAILED: needs $program"; exit 1; }
  done
}

# True as soon as the command is, false when it isn't for so many seconds.
wait_until() { # SECONDS COMMAND...
  local seconds=$1
  shift
  for _ in $(seq $((seconds * 20))); do
    "$@" >/dev/null 2>&1 && return
    read -rt 0.05 <> <(:)
  done
  return 1
}

clean_up() {
  stop_client
  stop_server TERM
  remove_namespaces
  rm -rf "$state"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# --- namespaces and links

make_namespace() { # NAME
  mkdir -p "/etc/netns/$run-$1"
  : >"/etc/netns/$run-$1/resolv.conf"   # clients write here, not into the machine's own
  ip netns add "$run-$1"
  ip -n "$run-$1" link set lo up
}

remove_namespaces() {
  local namespaces namespace
  namespaces=$(ip netns list 2>/dev/null | awk -v run="$run-" 'index($1, run) == 1 { print $1 }')
  for namespace in $namespaces; do
    # shellcheck disable=SC2046 # one id per word
    kill -KILL $(ip netns pids "$namespace")
  done 2>/dev/null
  wait 2>/dev/null   # for what this shell had started in them
  for namespace in $namespaces; do
    ip netns delete "$namespace"
    rm -rf "/etc/netns/${namespace:?}"
  done
}

# Not for what goes on in the background: $! has to be the program, which takes the place of ip.
in_namespace() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$run-$name" "$@"
}

make_bridge() { # NAMESPACE BRIDGE [ADDRESS...]
  local namespace=$1 bridge=$2 address
  shift 2
  ip -n "$run-$namespace" link add "$bridge" type bridge
  for address in "$@"; do ip -n "$run-$namespace" address add "$address" dev "$bridge"; done
  ip -n "$run-$namespace" link set "$bridge" up
}

# A cable from a new interface to a bridge.
plug() { # NAMESPACE INTERFACE MAC BRIDGE BRIDGE-NAMESPACE
  ip -n "$run-$1" link add "$2" address "$3" type veth peer name "to-$1" netns "$run-$5"
  ip -n "$run-$5" link set "to-$1" master "$4" up
  ip -n "$run-$1" link set "$2" up
}

# A namespace whose eth0 is plugged into a bridge.
make_client() { # NAME MAC [BRIDGE [BRIDGE-NAMESPACE]]
  make_namespace "$1"
  plug "$1" eth0 "$2" "${3:-net1}" "${4:-server}"
}

# --- clients

# A client's script; it finds at $RESULT what it has to write. The client does not pass its environment on.
write_client_script() { # NAME; the script is the input
  {
    printf '#!/bin/sh\nRESULT=%s\n' "$state/result"
    cat
  } >"$state/$1"
  chmod +x "$state/$1"
}

# What udhcpc runs with each lease.
write_udhcpc_script() { # the script is the input
  {
    # shellcheck disable=SC2016 # expanded by the client's shell
    echo '[ "$1" = bound ] || [ "$1" = renew ] || exit 0'
    cat
  } | write_client_script udhcpc.sh
}

run_udhcpc() { # NAME ARGUMENT...: prints what its script wrote
  local name=$1
  shift
  rm -f "$state/result"
  in_namespace "$name" udhcpc -i eth0 -f -n -q -t 5 -T 2 -s "$state/udhcpc.sh" "$@" >"$state/client.log" 2>&1
  cat "$state/result" 2>/dev/null
}

# In the namespace networkd, without a service manager; where /sys can't be written it takes itself to be in a container,
# and waits for nobody.
start_networkd() { # the settings of eth0 are the input
  cat >"$state/eth0.network"
  # shellcheck disable=SC2016 # expanded inside
  ip netns exec "$run-networkd" unshare -m sh -c 'mount -o remount,ro /sys && mount -t tmpfs none /run &&
    mkdir -p /run/systemd/network /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp &&
    cp "$1" /run/systemd/network/ && chown -R systemd-network: /run/systemd/netif && exec "$2"' sh "$state/eth0.network" "$networkd" \
    >"$state/client.log" 2>&1 &
  client_pid=$!
}

addresses() { # -4|-6 NAME: those of eth0, each with its prefix length
  ip -n "$run-$2" "$1" -o address show dev eth0 scope global | awk '{ print $4 }'
}

has_address() { # -4|-6 NAME
  [ -n "$(addresses "$@")" ]
}

stop_client() {
  [ -n "$client_pid" ] || return 0
  kill -TERM "$client_pid" 2>/dev/null
  wait "$client_pid" 2>/dev/null
  client_pid=
}

# perfdhcp ends without waiting for the last answers, so a few of 500 are missing.
judge_perfdhcp() {
  awk '/^received packets:/ { answers = $3 } /^non unique addresses:/ { doubles += $4 }
       END { print (answers >= 450 && doubles == 0) ? "yes" : "no: " answers " answers, " doubles " doubles" }' "$state/perf"
}

# --- the server

# An Infra with the gateway 192.168.100.1.
infra() { # CIDR SERVER-IP FIRST LAST
  cat <<SPEC
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: $1, gateway: 192.168.100.1, networkAttachmentDefinition: vlan7}
  infraComponents:
    dhcp: {serverIP: $2, rangeStart: $3, rangeEnd: $4}
SPEC
}

# `hcpnet up`, until `hcpnet status` is content.
start_up() { # SPEC-FILE
  [ -d "$up" ] || mkdir -m 0700 "$up"
  ip netns exec "$run-server" "$command_program" up "$1" --state-dir "$up" >"$state/server.out" 2>>"$state/server.err" &
  server_pid=$!
  wait_for_server "$command_program" status --state-dir "$up"
}

metric() { # NAME, with its labels
  curl -s --unix-socket "$up/admin.sock" http://localhost/metrics | awk -v name="$1" '$1 == name { print $2 }'
}

# The command tells whether the server serves; it has 20 seconds.
wait_for_server() { # COMMAND...
  for _ in $(seq 400); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$server_pid" 2>/dev/null || break
    read -rt 0.05 <> <(:)
  done
  echo "FAILED: the server did not start: $(cat "$state/server.err")"
  exit 1
}

# What it had to say of leases is kept for check_duplicates.
stop_server() { # SIGNAL
  [ -n "$server_pid" ] || return 0
  cat "$state/server.out" >>"$state/events"
  kill "-$1" "$server_pid" 2>/dev/null
  wait "$server_pid" 2>/dev/null
  server_pid=
}

# No address may have been bound to two clients, unless it was released or expired in between.
check_duplicates() {
  local duplicates
  duplicates=$(awk '$1 == "bound" || $1 == "renewed" { if (($2 in owner) && owner[$2] != $3) print $2; owner[$2] = $3 }
                    $1 == "released" || $1 == "expired" { delete owner[$2] }' "$state/events" "$state/server.out")
  expect "no address had two owners" "" "$duplicates"
}
