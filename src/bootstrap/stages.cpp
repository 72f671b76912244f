// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/machine_network.hpp>
#include <hcpnet/bootstrap/stages.hpp>
#include <map>
#include <utility>

namespace hcpnet::bootstrap {
namespace {

using spec::NodeRole;

/// What stands for the cluster in the scripts: "@domain@".
using Words = std::map<std::string, std::string, std::less<>>;

std::string names_of(const std::vector<const spec::ValidNode*>& nodes) {
  std::string text;
  for (const spec::ValidNode* node : nodes) text += (text.empty() ? "" : " ") + node->name;
  return text;
}
std::string addresses_of(const std::vector<const spec::ValidNode*>& nodes) {
  std::string text;
  for (const spec::ValidNode* node : nodes) text += (text.empty() ? "" : " ") + node->address.to_string();
  return text;
}

/// A call of common.sh's `install_by_hand` for each node.
std::string console_lines(const std::vector<const spec::ValidNode*>& nodes) {
  std::string text;
  for (const spec::ValidNode* node : nodes) text += "  install_by_hand " + node->name + ' ' + node->disk + '\n';
  return text;
}

std::string network_lines(const spec::ValidBootstrapCluster& cluster) {
  if (!cluster.gateway)
    return "  # The machine network is not this host's: the bridge " + cluster.bridge + " leads there.\n";
  const std::string& name = cluster.spec.cluster_name;
  return "  virsh net-define network/libvirt/network.xml\n  virsh net-autostart " + name + "\n  grep -qxF " + name +
         " <<<\"$(virsh net-list --name)\" || virsh net-start " + name + '\n';
}

constexpr std::string_view kAddressesByUnit =
    R"sh(  sudo install -m 0644 network/virtual-addresses.service /etc/systemd/system/hcpnet-@cluster@.service
  sudo systemctl daemon-reload
  sudo systemctl enable hcpnet-@cluster@.service
  sudo systemctl restart hcpnet-@cluster@.service
)sh";
constexpr std::string_view kAddressesByKeepalived =
    R"sh(  # This and HAProxy on every host of the load balancer.
  sudo install -m 0644 load-balancer/keepalived.conf /etc/keepalived/keepalived.conf
  sudo systemctl enable keepalived
  sudo systemctl reload-or-restart keepalived
)sh";

std::string host_check(const pki::PkiPlan& plan, const std::string& host) {
  std::string text;
  for (const std::string& name : plan.roles.serving) {
    const auto& names = plan.find(name)->profile.dns_names;
    if (std::find(names.begin(), names.end(), host) != names.end())
      text += "  check_chain " + name + " -purpose sslserver -verify_hostname " + host + '\n';
  }
  return text;
}
std::string pki_checks(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  std::string text;
  for (const char* host : {"api.", "api-int."}) text += host_check(plan, host + cluster.domain);
  text += host_check(plan, "localhost");
  // etcd dials itself with the certificate that it serves with.
  for (const pki::PlannedCertificate& planned : plan.certificates)
    if (planned.profile.server_auth && planned.profile.client_auth && planned.name.starts_with("etcd-"))
      for (const char* purpose : {"sslserver", "sslclient"})
        text += "  check_chain " + planned.name + " -purpose " + purpose + '\n';
  return text;
}

Words words_for(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  const auto control_plane = cluster.with_role(NodeRole::control_plane);
  const auto workers = cluster.with_role(NodeRole::worker);
  return {{"domain", cluster.domain},
          {"release", cluster.spec.release_image},
          {"version", cluster.spec.openshift_version},
          {"api_vip", cluster.api_vip.to_string()},
          {"ingress_vip", cluster.ingress_vip.to_string()},
          {"cluster", cluster.spec.cluster_name},
          {"pool", cluster.spec.libvirt.pool},
          {"live_iso", cluster.spec.libvirt.live_iso},
          {"disk_gib", std::to_string(cluster.spec.libvirt.disk_gib)},
          {"machine_network", network_lines(cluster)},
          {"bootstrap", cluster.bootstrap().name},
          {"bootstrap_machine", machine_name(cluster, cluster.bootstrap())},
          {"bootstrap_address", cluster.bootstrap().address.to_string()},
          {"bootstrap_disk", cluster.bootstrap().disk},
          {"masters", names_of(control_plane)},
          {"master_addresses", addresses_of(control_plane)},
          {"master_count", std::to_string(control_plane.size())},
          {"first_master", control_plane.front()->name},
          {"workers", names_of(workers)},
          {"worker_addresses", addresses_of(workers)},
          {"bootstrap_user", plan.find(plan.roles.kubelet_bootstrap)->profile.subject.common_name},
          {"server_ca", plan.roles.server_ca},
          {"kubelet_client_ca", plan.roles.kubelet_client_ca},
          {"console_masters", console_lines(control_plane)},
          {"console_workers", console_lines(workers)},
          {"pki_checks", pki_checks(cluster, plan)}};
}

std::string filled(std::string_view text, const Words& words) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find('@', at), end = begin == text.npos ? text.npos : text.find('@', begin + 1);
    const auto word = end == text.npos ? words.end() : words.find(text.substr(begin + 1, end - begin - 1));
    if (word == words.end()) {  // an @ of the script's own
      const std::size_t next = begin == text.npos ? text.size() : begin + 1;
      out += text.substr(at, next - at);
      at = next;
    } else {
      out += text.substr(at, begin - at);
      out += word->second;
      at = end + 1;
    }
  }
  return out;
}

constexpr std::string_view kCommon = R"sh(# What the stages share; each of them reads it.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the stages read failed
export KUBECONFIG=$PWD/kubeconfig/admin.kubeconfig
export LIBVIRT_DEFAULT_URI=${LIBVIRT_DEFAULT_URI:-qemu:///system}
failed=0

# check WHAT COMMAND...: says whether it holds, and goes on.
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok: $what"
  else
    echo "not ok: $what" >&2
    failed=1
  fi
}

# retry SECONDS WHAT COMMAND...: asks until it holds.
retry() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      echo "not ok: $what" >&2
      failed=1
      return
    fi
    sleep 5
  done
  echo "ok: $what"
}

# resolves NAME ADDRESS
resolves() { [[ $(getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }') == "$2" ]]; }
# listens ADDRESS PORT
listens() { timeout 5 bash -c "exec 3<>/dev/tcp/$1/$2"; }
# is_ready ADDRESS: the API server there, under the cluster's name
is_ready() {
  curl --fail --silent --max-time 10 --cacert pki/@server_ca@.crt --resolve "api.@domain@:6443:$1" \
    "https://api.@domain@:6443/readyz"
}
# check_chain NAME [OPTION...]: the certificate leads to a root of ours
check_chain() {
  ((${#roots[@]} > 0)) || find_roots
  check "$*" openssl verify -partial_chain -CAfile <(cat /dev/null "${roots[@]}") \
    -untrusted <(cat /dev/null "${authorities[@]}") "${@:2}" "pki/$1.crt"
}
authorities=() roots=()
# find_roots: the authorities that no other one here signed; the issuer of one that was imported may be elsewhere
find_roots() {
  local file issuer subjects=' '
  for file in pki/*.crt; do
    [[ $(openssl x509 -noout -ext basicConstraints -in "$file" 2>/dev/null) == *CA:TRUE* ]] || continue
    authorities+=("$file")
    subjects+="$(openssl x509 -noout -subject_hash -in "$file") "
  done
  for file in "${authorities[@]}"; do
    issuer=$(openssl x509 -noout -issuer_hash -in "$file")
    [[ $issuer != "$(openssl x509 -noout -subject_hash -in "$file")" && $subjects == *" $issuer "* ]] || roots+=("$file")
  done
}
# image TAG: of the release
image() { oc adm release info --registry-config=auth/pull-secret.json --image-for="$1" "@release@"; }

# Starts a machine, and says what has to be typed at its console. The sum keeps the way there from being trusted.
install_by_hand() { # NODE DISK
  [[ $(virsh domstate "@cluster@-$1") == running* ]] || virsh start "@cluster@-$1"
  echo "# $1, booted from the live ISO:"
  echo "sudo coreos-installer install $2 --ignition-url=http://${HTTP_HOST:?the address of this host}:8080/$1.ign \\"
  echo "  --ignition-hash=sha512-$(sha512sum "ignition/$1.ign" | cut -d' ' -f1) && sudo reboot"
}

# requests SIGNER USER: the names of those that wait, with the node that each is for
requests() {
  oc get certificatesigningrequests -o json | jq -r --arg signer "$1" --arg user "$2" '.items[] |
    select(.spec.signerName == $signer and .spec.username == $user and (.status.conditions // [] | length) == 0) |
    [.metadata.name, .spec.request] | @tsv' |
    while read -r name request; do
      echo "$name $(base64 -d <<<"$request" | openssl req -noout -subject -nameopt multiline | sed -n 's/ *commonName *= //p')"
    done
}
# approve SIGNER USER NODE: what asks for the certificate of this node and of no other
approve() {
  local name subject found=1
  while read -r name subject; do
    [[ $subject == "system:node:$3" ]] || continue
    oc adm certificate approve "$name"
    found=0
  done < <(requests "$1" "$2")
  return $found
}
# admit NODE...: two rounds for each, first its client certificate, which the bootstrap identity asks for, then the one
# that it serves with, which it asks for itself
admit() {
  local node
  for node in "$@"; do
    retry 1800 "$node asked for its client certificate" approve kubernetes.io/kube-apiserver-client-kubelet \
      "@bootstrap_user@" "$node"
    retry 600 "$node asked for its serving certificate" approve kubernetes.io/kubelet-serving "system:node:$node" "$node"
  done
}
etcdctl() { oc --namespace openshift-etcd rsh -c etcdctl "etcd-@first_master@" etcdctl "$@"; }
# members: of etcd that vote, without the one of the bootstrap node; one that has not started yet has no name
members() {
  etcdctl member list -w json |
    jq '[.members[] | select((.name // "") != "" and .name != "etcd-bootstrap" and (.isLearner | not))] | length'
}
has_members() { (($(members) >= @master_count@)); }
)sh";

constexpr std::string_view kRender =
    "  hcpnet bootstrap render \"${SPEC:?the file with the BootstrapCluster}\" --output-dir .\n";

constexpr std::string_view kFirewall = R"sh(  if systemctl is-active --quiet firewalld; then
    sudo cp -r network/firewalld/. /etc/firewalld/
    sudo firewall-cmd --check-config
    sudo firewall-cmd --reload
  else
    sudo nft -f network/nftables.nft
  fi
)sh";
constexpr std::string_view kBalancerAndMachines =
    R"sh(  # SELinux lets HAProxy have other ports than its own only where it is told to.
  [[ $(getenforce 2>/dev/null) != Enforcing ]] || sudo setsebool -P haproxy_connect_any on
  sudo install -m 0644 load-balancer/haproxy-bootstrap.cfg /etc/haproxy/haproxy.cfg
  sudo systemctl reload-or-restart haproxy
  # An empty disk is tried first and falls through to the ISO; once it is installed, it is what boots.
  local node disk
  for node in @bootstrap@ @masters@ @workers@; do
    disk=@cluster@-$node.qcow2
    virsh vol-info --pool @pool@ "$disk" >/dev/null 2>&1 ||
      virsh vol-create-as @pool@ "$disk" @disk_gib@GiB --format qcow2
    virsh define "network/libvirt/machines/$node.xml"
  done
)sh";
constexpr std::string_view kInfrastructureVerify =
    R"sh(  local node
  check 'the live ISO is in its pool' virsh vol-info --pool @pool@ @live_iso@
  for node in @bootstrap@ @masters@ @workers@; do
    check "the machine of $node is there" virsh dominfo "@cluster@-$node"
  done
  check 'api.@domain@ is @api_vip@' resolves api.@domain@ @api_vip@
  check 'api-int.@domain@ is @api_vip@' resolves api-int.@domain@ @api_vip@
  check 'any name below apps.@domain@ is @ingress_vip@' resolves any.apps.@domain@ @ingress_vip@
  check 'HAProxy takes its configuration' haproxy -c -f load-balancer/haproxy-bootstrap.cfg
  check 'the API is listened for' listens @api_vip@ 6443
  check 'the machine-config server is listened for' listens @api_vip@ 22623
  check 'applications are listened for' listens @ingress_vip@ 443
)sh";

constexpr std::string_view kReleaseRun = R"sh(  rm -rf release
  mkdir -p release/api release/version release/crds release/machine-config/tls release/machine-configs
  oc adm release extract --registry-config=auth/pull-secret.json --file=image-references "@release@" \
    >release/image-references
  # CRDs come from two places: openshift/api, and the cluster-version operator for its own two.
  oc image extract --registry-config=auth/pull-secret.json --path=/manifests/:release/api --confirm \
    "$(image cluster-config-api)"
  cp release/api/*.crd.yaml release/crds/
  podman run --rm --authfile auth/pull-secret.json --volume "$PWD/release/version:/out:z" "@release@" \
    render --output-dir=/out --release-image="@release@"
  cp release/version/manifests/0000_00_cluster-version-operator_01_cluster*.yaml release/crds/
  cp release/api/*featureGate*SelfManagedHA-Default.yaml release/feature-gate.yaml
  # First the operator writes what the controller reads; then the controller writes the nodes' configs.
  cp machine-config-inputs/* release/image-references release/machine-config/
  cp release/feature-gate.yaml release/machine-config/feature-gate.yaml
  cp pki/root-ca.crt pki/@kubelet_client_ca@.crt release/machine-config/tls/
  podman run --rm --user 0 --authfile auth/pull-secret.json --volume "$PWD/release/machine-config:/assets:z" \
    "$(image machine-config-operator)" bootstrap --root-ca=/assets/tls/root-ca.crt \
    --kube-ca=/assets/tls/@kubelet_client_ca@.crt --config-file=/assets/cluster-config.yaml \
    --infra-config-file=/assets/cluster-infrastructure-02-config.yml \
    --network-config-file=/assets/cluster-network-02-config.yml --dns-config-file=/assets/cluster-dns-02-config.yml \
    --proxy-config-file=/assets/cluster-proxy-01-config.yaml \
    --pull-secret=/assets/openshift-config-secret-pull-secret.yaml --release-image="@release@" \
    --image-references=/assets/image-references --payload-version="@version@" --dest-dir=/assets/operator
  mkdir release/machine-config/input
  cp release/machine-config/operator/bootstrap/manifests/* release/machine-config/feature-gate.yaml \
    release/machine-config/image-references release/machine-config/input/
  podman run --rm --user 0 --authfile auth/pull-secret.json --volume "$PWD/release/machine-config:/assets:z" \
    --entrypoint /usr/bin/machine-config-controller "$(image machine-config-operator)" bootstrap \
    --manifest-dir=/assets/input --dest-dir=/assets/controller \
    --pull-secret=/assets/operator/bootstrap/manifests/machineconfigcontroller-pull-secret
  cp release/machine-config/controller/machine-configs/rendered-*.yaml release/machine-configs/
  echo "name them in the spec, and render again:"
  echo "  imageReferencesFile: $PWD/release/image-references"
  echo "  crdsFolder: $PWD/release/crds"
  echo "  featureGateFile: $PWD/release/feature-gate.yaml"
  echo "  machineConfigsFolder: $PWD/release/machine-configs"
)sh";
constexpr std::string_view kReleaseVerify =
    R"sh(  check 'the CRD of ClusterVersion is there' grep -l 'name: clusterversions.config.openshift.io' release/crds/*
  check 'the CRD of ClusterOperator is there' grep -l 'name: clusteroperators.config.openshift.io' release/crds/*
  check 'the CRD of Infrastructure is there' grep -l 'name: infrastructures.config.openshift.io' release/crds/*
  check 'the FeatureGate has a status' grep -q 'featureGates:' release/feature-gate.yaml
  check 'the config of the control plane is there' compgen -G 'release/machine-configs/rendered-master-*.yaml'
  check 'the config of the workers is there' compgen -G 'release/machine-configs/rendered-worker-*.yaml'
)sh";

constexpr std::string_view kPkiVerify =
    R"sh(  check 'keys are for their owner only' test -z "$(find pki -name '*.key' ! -perm 600)"
@pki_checks@)sh";

constexpr std::string_view kKubeconfigVerify = R"sh(  local name
  for name in admin kube-controller-manager kube-scheduler kubelet-bootstrap localhost localhost-recovery lb-int lb-ext; do
    check "$name.kubeconfig is for its owner only" test "$(stat -c %a "kubeconfig/$name.kubeconfig")" = 600
    check "$name.kubeconfig has one context" grep -q '^current-context: ' "kubeconfig/$name.kubeconfig"
  done
)sh";

constexpr std::string_view kManifestsVerify = R"sh(  local file
  for file in bootstrap-node/etc/kubernetes/manifests/*.yaml; do
    check "$file runs an image of the release" \
      grep -qF "$(sed -n 's/^ *image: //p' "$file")" release/image-references
  done
  check 'the manifests can be applied' bash -n manifests/apply.sh
  check 'there are CRDs' compgen -G 'manifests/crds/*'
  check 'the host of the API server is known before there is a pod network' \
    grep -q api-int.@domain@ node/etc/kubernetes/apiserver-url.env
)sh";

constexpr std::string_view kIgnitionVerify = R"sh(  local node file
  for node in @bootstrap@ @masters@ @workers@; do
    file=ignition/$node.ign
    check "$file is an Ignition config" jq -e '.ignition.version | startswith("3.")' "$file"
    check "$file is for its owner only" test "$(stat -c %a "$file")" = 600
    ! command -v ignition-validate >/dev/null || check "$file is valid" ignition-validate "$file"
  done
)sh";

constexpr std::string_view kInstallRun =
    R"sh(  # The configs hold keys: let nobody but the machine network reach this server, and end it when the nodes are up.
  python3 -m http.server 8080 --directory ignition &
  install_by_hand @bootstrap@ @bootstrap_disk@
@console_masters@  wait
)sh";
constexpr std::string_view kInstallVerify = R"sh(  local address
  for address in @bootstrap_address@ @master_addresses@; do
    retry 1800 "$address runs from its disk" ssh -o BatchMode=yes "core@$address" test ! -e /run/ostree-live
  done
)sh";

constexpr std::string_view kBootstrapRun =
    R"sh(  ssh core@@bootstrap_address@ sudo journalctl --unit kubelet --unit bootkube --follow
)sh";
constexpr std::string_view kBootstrapVerify =
    R"sh(  retry 1800 'the API server of the bootstrap node is ready' is_ready @bootstrap_address@
  retry 300 'so it is behind the load balancer' is_ready @api_vip@
  check 'we are its administrator' oc auth can-i '*' '*' --all-namespaces
  retry 1800 'bootkube is done' ssh -o BatchMode=yes core@@bootstrap_address@ test -e /opt/openshift/.bootkube.done
)sh";

constexpr std::string_view kEtcdVerify = R"sh(  local address
  retry 3600 'etcd has a member on each control-plane node' has_members
  check 'every member is healthy' etcdctl endpoint health --cluster
  for address in @master_addresses@ @api_vip@; do
    retry 1800 "the API server at $address is ready" is_ready "$address"
  done
)sh";

constexpr std::string_view kPivotRun = R"sh(  # With fewer members the cluster would end with its bootstrap node.
  has_members || { echo 'etcd has too few members' >&2; return 1; }
  sudo install -m 0644 load-balancer/haproxy.cfg /etc/haproxy/haproxy.cfg
  sudo systemctl reload haproxy
  retry 120 'the API answers without the bootstrap node' is_ready @api_vip@
  ((failed == 0)) || return 1
  virsh destroy @bootstrap_machine@
)sh";

constexpr std::string_view kConvergenceVerify =
    R"sh(  check 'operators are available' oc wait clusteroperators --all --for=condition=Available --timeout=3600s
  check 'none is at work' oc wait clusteroperators --all --for=condition=Progressing=False --timeout=3600s
  check 'none is degraded' oc wait clusteroperators --all --for=condition=Degraded=False --timeout=600s
  check 'the release is installed' oc wait clusterversion/version --for=condition=Available --timeout=600s
)sh";

constexpr std::string_view kVerificationVerify =
    R"sh(  check 'every node is ready' oc wait nodes --all --for=condition=Ready --timeout=60s
  check 'every member of etcd is healthy' etcdctl endpoint health --cluster
  check 'a pod can be deployed' oc --namespace default create deployment hello --image="$(image cli)" -- sleep infinity
  check 'it runs' oc --namespace default wait deployment/hello --for=condition=Available --timeout=300s
  check 'it can be removed' oc --namespace default delete deployment/hello
  check 'the console answers' curl --fail --silent --insecure --max-time 30 https://console-openshift-console.apps.@domain@/
)sh";

}  // namespace

std::vector<Stage> make_stages(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  const Words words = words_for(cluster, plan);
  std::vector<Stage> stages;
  const auto add = [&](const char* name, const char* title, std::vector<std::string> needs,
                       std::vector<std::string> makes, std::string_view run, std::string_view verify) {
    stages.push_back({name, title, std::move(needs), std::move(makes), filled(run, words), filled(verify, words)});
  };
  add("01-prerequisites", "programs, a pull secret, and room for the machines", {"pull secret"}, {"tools"},
      "  echo 'install what the verification misses'\n",
      R"sh(  local program
  for program in oc podman openssl jq curl ssh virsh haproxy; do
    check "$program is there" command -v "$program"
  done
  check 'the pull secret is one' jq -e '.auths | length > 0' auth/pull-secret.json
  check 'libvirt answers' virsh uri
)sh");
  const std::string infrastructure = std::string(kFirewall) + "@machine_network@" +
                                     std::string(cluster.spec.keepalived ? kAddressesByKeepalived : kAddressesByUnit) +
                                     std::string(kBalancerAndMachines);
  add("02-infrastructure", "machine network, virtual addresses, load balancer and machines",
      {"spec", "tools", "live ISO"}, {"machine network", "load balancer", "machines"}, infrastructure,
      kInfrastructureVerify);
  add("05-pki", "keys and certificates", {"spec"}, {"pki"}, kRender, kPkiVerify);
  add("04-release", "what the release image knows: CRDs, features, the configs of its nodes",
      {"release image", "pull secret", "tools", "pki"}, {"CRDs", "feature gates", "machine configs"}, kReleaseRun,
      kReleaseVerify);
  add("06-kubeconfigs", "who each component is", {"spec", "pki"}, {"kubeconfigs"}, kRender, kKubeconfigVerify);
  add("07-manifests", "static pods, and the objects that describe the cluster",
      {"spec", "pki", "pull secret", "image references", "CRDs", "feature gates"}, {"static pods", "manifests"},
      kRender, kManifestsVerify);
  add("08-ignition", "one config for each node",
      {"spec", "pki", "kubeconfigs", "static pods", "manifests", "machine configs", "pull secret"}, {"ignition"},
      kRender, kIgnitionVerify);
  add("09-install", "the bootstrap node and the control plane boot from their disks",
      {"ignition", "machines", "machine network", "load balancer"}, {"bootstrap node", "control plane"}, kInstallRun,
      kInstallVerify);
  add("10-bootstrap", "the bootstrap node serves the API and applies the manifests", {"bootstrap node"}, {"API"},
      kBootstrapRun, kBootstrapVerify);
  add("11-control-plane", "the control-plane nodes get their certificates", {"API", "control plane"},
      {"control-plane nodes"}, "  admit @masters@\n",
      R"sh(  local node
  for node in @masters@; do
    check "$node is ready" oc wait "node/$node" --for=condition=Ready --timeout=1800s
  done
)sh");
  add("12-etcd", "etcd and the control plane move to these nodes", {"control-plane nodes"}, {"etcd members"},
      "  oc get etcd cluster -o yaml\n", kEtcdVerify);
  add("13-pivot", "the bootstrap node leaves", {"etcd members", "load balancer"}, {"own control plane"}, kPivotRun,
      R"sh(  check 'the API answers through its address' is_ready @api_vip@
  check 'the bootstrap node is gone' test "$(virsh domstate @bootstrap_machine@)" = 'shut off'
)sh");
  const bool has_workers = !cluster.with_role(NodeRole::worker).empty();
  if (has_workers) {
    add("14-workers", "the workers boot from their disks",
        {"own control plane", "ignition", "machines", "machine network"}, {"installed workers"},
        "  python3 -m http.server 8080 --directory ignition &\n@console_workers@  wait\n",
        R"sh(  local address
  for address in @worker_addresses@; do
    retry 1800 "$address runs from its disk" ssh -o BatchMode=yes "core@$address" test ! -e /run/ostree-live
  done
)sh");
    add("15-worker-certificates", "the workers get their certificates", {"installed workers"}, {"worker nodes"},
        "  admit @workers@\n",
        R"sh(  local node
  for node in @workers@; do
    check "$node is ready" oc wait "node/$node" --for=condition=Ready --timeout=1800s
  done
)sh");
  }
  add("16-convergence", "the operators finish", {has_workers ? "worker nodes" : "own control plane"},
      {"installed cluster"}, "  oc get clusteroperators\n", kConvergenceVerify);
  add("17-verification", "the cluster does what a cluster is for", {"installed cluster"}, {"checked cluster"},
      "  oc get nodes --output wide\n", kVerificationVerify);
  return stages;
}

std::vector<pki::OutputFile> render_stages(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  std::vector<pki::OutputFile> files;
  for (const Stage& stage : make_stages(cluster, plan)) {
    std::string text = "#!/bin/bash\n# " + stage.name + ": " + stage.title + "\n# Needs: " + joined(stage.needs) +
                       ". Makes: " + joined(stage.makes) + ".\n#   " + stage.name +
                       ".sh           prints its commands\n#   " + stage.name +
                       ".sh run       runs them, and verifies\n#   " + stage.name + ".sh verify    verifies\n";
    text += R"sh(# shellcheck disable=SC2154  # common.sh sets failed
set -euo pipefail
self=$(realpath "${BASH_SOURCE[0]}")
cd "$(dirname "$self")/.."
# shellcheck source=/dev/null
source stages/common.sh

run() {
)sh" + stage.run +
            "}\n\nverify() {\n" + stage.verify + R"sh(}

case ${1:-print} in
  print) sed -n '/^run() {/,/^}/p; /^verify() {/,/^}/p' "$self" ;;
  run)
    run
    verify
    ;;
  verify) verify ;;
  *)
    echo "usage: $0 [run|verify]" >&2
    exit 2
    ;;
esac
exit "$failed"
)sh";
    files.push_back({stage.name + ".sh", pki::Secret(std::move(text)), 0755});
  }
  files.push_back({"common.sh", pki::Secret(filled(kCommon, words_for(cluster, plan)))});
  return files;
}

}  // namespace hcpnet::bootstrap
