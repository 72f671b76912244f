#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pools, exclusions, client classes and a shared network of `hcpnet up`, with stock clients in network namespaces that
# this run makes and removes.
#   dhcp_pools_test.sh HCPNET_COMMAND
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
command_program=$1

# The pool of the network has three addresses, one of them excluded.
write_network() { # FIRST LAST EXCLUDED
  cat >"$state/network.yaml" <<SPEC
$(infra 192.168.100.0/24 192.168.100.2 "$1" "$2")
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

utilization() { # POOL
  "$command_program" status --state-dir "$up" -o json |
    awk -v pool="\"pool\": \"$1\"" '/"bound":/ { bound = $2 } index($0, pool) { print bound }' | tr -d ,
}

require udhcpc
# Address, prefix length, router, boot file, next server, server.
write_udhcpc_script <<'SCRIPT'
echo "$ip $mask $router $boot_file $siaddr $serverid" >"$RESULT"
SCRIPT
make_namespace server
make_bridge server net1 192.168.100.2/24 192.168.104.2/22
for n in 1 2 3 4 5; do make_client "c$n" "02:00:00:00:07:0$n"; done
write_network 192.168.100.50 192.168.100.52 192.168.100.51
start_up "$state/network.yaml"

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
expect "reload: the pool shrinks" 0 "$("$command_program" reload --state-dir "$up" >"$state/reload" 2>&1; echo $?)"
expect "what is in use outside the pools is kept" 5 "$("$command_program" leases list --state-dir "$up" | grep -c bound)"
expect "and its client gets another address" "192.168.100.51 24 192.168.100.1   192.168.100.2" "$(run_udhcpc c1)"
expect "the others keep theirs" "192.168.104.50 22 192.168.104.1   192.168.104.2" "$(run_udhcpc c3)"

sed -i 's/architectures/architecture/; s/clientClasses: \[pxe\]/clientClasses: [efi]/' "$state/network.yaml"
"$command_program" reload --state-dir "$up" >"$state/reload" 2>&1
expect "a bad reload is refused with every line" 2 "$(grep -cE 'network.yaml:[0-9]+:[0-9]+: error' "$state/reload")"

[ "$failures" = 0 ] || { cat "$state/server.err"; exit 1; }
