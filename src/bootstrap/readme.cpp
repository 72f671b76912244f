// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/readme.hpp"
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/bootstrap/stages.hpp>

namespace hcpnet::bootstrap {
namespace {

std::string usages_of(const pki::CertificateProfile& profile) {
  if (profile.is_authority) return "authority";
  if (profile.server_auth && profile.client_auth) return "server and client";
  return profile.server_auth ? "server" : "client";
}

std::string subject_of(const pki::DistinguishedName& subject) {
  std::string text = "CN " + subject.common_name;
  for (const std::string& organization : subject.organizations) text += ", O " + organization;
  return text;
}

std::string names_of(const pki::CertificateProfile& profile) {
  std::string text;
  for (const std::string& name : profile.dns_names) text += (text.empty() ? "" : ", ") + name;
  for (const IpAddress& address : profile.addresses) text += (text.empty() ? "" : ", ") + address.to_string();
  return text;
}

std::string pki_table(const pki::PkiPlan& plan) {
  std::string text = "| name | signed by | what | subject | names |\n|---|---|---|---|---|\n";
  for (const pki::PlannedCertificate& planned : plan.certificates)
    text += "| " + planned.name + " | " + (planned.issuer.empty() ? "itself" : planned.issuer) + " | " +
            usages_of(planned.profile) + " | " + subject_of(planned.profile.subject) + " | " +
            names_of(planned.profile) + " |\n";
  return text;
}

std::string kubeconfig_table(const std::string& domain, const pki::PkiPlan& plan) {
  std::string text = "| file | server | identity |\n|---|---|---|\n";
  for (const KubeconfigRow& row : kubeconfig_rows())
    text += "| " + std::string(row.file) + ".kubeconfig | " + std::string(row.host) +
            (row.host == "localhost" ? "" : '.' + domain) + " | " + plan.roles.*row.role + " |\n";
  return text;
}

std::string service_table(const std::vector<BalancedService>& services) {
  std::string text = "| service | address | ready when 200 is the answer of | nodes |\n|---|---|---|---|\n";
  for (const BalancedService& service : services) {
    text += "| " + service.name + " | " + service.address.to_string() + ':' + std::to_string(service.port) + " | " +
            (service.check.is_tls ? "https://NODE:" : "http://NODE:") + std::to_string(service.check.port) +
            service.check.path + " |";
    for (const spec::ValidNode* node : service.nodes) text += ' ' + node->name;
    text += " |\n";
  }
  return text;
}

std::string stage_table(const std::vector<Stage>& stages) {
  std::string text = "| script | what |\n|---|---|\n";
  for (const Stage& stage : stages) text += "| stages/" + stage.name + ".sh | " + stage.title + " |\n";
  return text;
}

std::string ignition_table(const std::vector<IgnitionReport>& configs) {
  std::string text = "| file | version | files | units | bytes |\n|---|---|---|---|---|\n";
  for (const IgnitionReport& config : configs)
    text += "| " + config.name + " | " + config.version + " | " + std::to_string(config.files) + " | " +
            std::to_string(config.units) + " | " + std::to_string(config.bytes) + " |\n";
  return text;
}

}  // namespace

std::string render_readme(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                          const std::vector<IgnitionReport>& ignition) {
  return "# " + cluster.domain + ", OpenShift " + cluster.spec.openshift_version +
         "\n\nEverything here was written by `hcpnet bootstrap render`. Run it again after a change of the spec: keys "
         "and "
         "certificates that are still right stay, those near their end are renewed.\nWhat is secret has the mode 0600: "
         "keys, kubeconfigs, `ignition`, `auth`, manifests and inputs with Secrets.\n\n"
         "## stages\nA script prints its commands; `run` runs them and verifies, `verify` only verifies.\n\n" +
         stage_table(make_stages(cluster, plan)) +
         "\n"
         "## pki\nEach certificate is `NAME.crt`, with what stands between it and its root, and `NAME.key`.\n\n" +
         pki_table(plan) +
         "\nCheck: `openssl verify -CAfile ROOT.crt -untrusted NAME.crt NAME.crt`; ends: `hcpnet pki expiry pki`.\n\n"
         "## kubeconfig\n" +
         kubeconfig_table(cluster.domain, plan) +
         "\nCheck: `kubectl --kubeconfig FILE auth whoami`.\n\n"
         "## load-balancer\n" +
         service_table(balanced_services(cluster, Phase::pivoted)) +
         "\n`haproxy-bootstrap.cfg` while the bootstrap node is there, `haproxy.cfg` from the pivot on, when etcd has "
         "its "
         "three members on the control plane. Check: `haproxy -c -f FILE`.\n" +
         (cluster.spec.keepalived ? "`keepalived.conf` is the same on each of its hosts. Check: `keepalived "
                                    "--config-test --use-file FILE`.\n"
                                  : "") +
         "In place of HAProxy: `hcpnet up load-balancer/proxy.yaml --endpoints "
         "load-balancer/endpoints-bootstrap.yaml`, "
         "and from the pivot on with `endpoints.yaml`.\n\n"
         "## network\n`zones` for a name server (`named-checkzone ZONE FILE`); `libvirt` for virsh; for the host's "
         "packet "
         "filter either `nftables.nft` (`nft --check --file FILE`) or `firewalld`, which goes below /etc/firewalld." +
         (cluster.spec.keepalived ? "" : " `virtual-addresses.service` gives this host the virtual addresses.") +
         "\n\n"
         "## bootstrap-node, node, nodes\nFiles of the bootstrap node, of every other node, and of each one, below its "
         "root. `/etc/kubernetes/apiserver-url.env` is what the network operator reads before there is a pod network; "
         "without it no operator starts.\n\n"
         "## manifests\n`apply.sh KUBECONFIG` applies them in order, and waits. On the bootstrap node bootkube.sh does "
         "it.\n\n"
         "## machine-config-inputs\nWhat the machine-config operator of the release renders the nodes' configs from: "
         "stage 04.\n\n"
         "## ignition\n" +
         ignition_table(ignition) +
         "\n## auth\n`kubeadmin-password` is the first administrator's; remove the Secret kube-system/kubeadmin once "
         "there "
         "are others.\n";
}

}  // namespace hcpnet::bootstrap
