#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Addresses that somebody uses already, met by the probe of `hcpnet up`: by ARP on its link, and by ICMP echo behind
# dnsmasq as a relay. Stock clients, in network namespaces that this run makes and removes.
#   dhcp_probe_test.sh HCPNET_COMMAND
set -u
# shellcheck source=tests/integration/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
command_program=$1

# The link of the server has one subnet of its own and one behind a relay; the first one gives addresses only if nothing
# is excluded.
write_network() { # EXCLUSIONS PROBE
  cat >"$state/network.yaml" <<SPEC
$(infra 192.168.100.0/24 192.168.100.2 192.168.100.50 192.168.100.59)
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
  "$command_program" reload --state-dir "$up" >"$state/reload" 2>&1
  echo $?
}

probes() { # RESULT
  metric "hcpnet_dhcp_probes_total{result=\"$1\"}"
}

declined() {
  "$command_program" leases list --state-dir "$up" | awk '/declined/ { print $1 }' | tr '\n' ' '
}

require udhcpc dnsmasq curl setpriv
write_udhcpc_script <<'SCRIPT'
echo "$ip" >"$RESULT"
SCRIPT

make_namespace server
make_bridge server net1 192.168.100.2/24
make_client c1 02:00:00:00:08:01
make_client c2 02:00:00:00:08:02
make_client c3 02:00:00:00:08:03
make_client squatter 02:00:00:00:08:99
for n in 50 51; do ip -n "$run-squatter" address add "192.168.100.$n/24" dev eth0; done
# The relay, and the link behind it.
make_namespace relay
make_bridge relay far 192.168.104.1/24
plug relay near 02:00:00:00:08:fe net1 server
ip -n "$run-relay" address add 192.168.100.9/24 dev near
in_namespace relay sysctl -qw net.ipv4.ip_forward=1
ip -n "$run-server" route add 192.168.104.0/24 via 192.168.100.9
make_client f1 02:00:00:00:08:11 far relay
make_client f2 02:00:00:00:08:12 far relay
make_client fsquatter 02:00:00:00:08:98 far relay
ip -n "$run-fsquatter" address add 192.168.104.50/24 dev eth0
ip -n "$run-fsquatter" route add default via 192.168.104.1
ip netns exec "$run-relay" dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 --user=root --pid-file= \
  --dhcp-relay=192.168.104.1,192.168.100.2 >"$state/relay.log" 2>&1 &

write_network "" ""
start_up "$state/network.yaml"
expect "without a probe an address in use is given" 192.168.100.50 "$(run_udhcpc c1)"
write_network "" "probe: {timeoutMilliseconds: 200}"
expect "a reload turns the probe on" 0 "$(reload)"
expect "what a client is bound to is not asked for" 192.168.100.50 "$(run_udhcpc c1)"
expect "ARP: the address that is in use is passed over" 192.168.100.52 "$(run_udhcpc c2)"
expect "it rests" "192.168.100.51 " "$(declined)"
expect "and the log names who has it" 1 "$(grep -c 'address in use.*192.168.100.51.*02:00:00:00:08:99' "$state/server.err")"
ip -n "$run-c3" address add 192.168.100.53/24 dev eth0
expect "ARP: a client's own answer is none" 192.168.100.53 "$(run_udhcpc c3)"
expect "metrics: answered" 1 "$(probes answered)"
expect "metrics: unanswered" 2 "$(probes unanswered)"

write_network "{rangeStart: 192.168.100.50, rangeEnd: 192.168.100.59}" "probe: {timeoutMilliseconds: 200}"
expect "reload: the own subnet gives nothing any more" 0 "$(reload)"
expect "ICMP through a relay: the address that is in use is passed over" 192.168.104.51 "$(run_udhcpc f1)"
expect "it rests too" "192.168.100.51 192.168.104.50 " "$(declined)"
expect "the next client behind the relay" 192.168.104.52 "$(run_udhcpc f2)"
expect "metrics: answered by echo as well" 2 "$(probes answered)"

write_network "" ""
expect "a reload turns the probe off" 0 "$(reload)"
stop_server TERM
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

[ "$failures" = 0 ] || { cat "$state/server.err" "$state/relay.log"; exit 1; }
