// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr Rule kRules[] = {
    {.id = "apply-errors-ignored",
     .severity = Severity::warning,
     .title = "a script that goes on when a manifest is not applied",
     .why =
         "The object that failed is missing, nobody is told, and what shows hours later is an operator that waits for "
         "it.",
     .fix = "Let it fail (`set -e`), or try again; `hcpnet bootstrap render` writes a script that does.",
     .source = "openshift/installer bootkube.sh ends at such errors",
     .wrong = R"(#!/bin/bash
oc apply -f /opt/openshift/manifests || true
)",
     .wrong_part = " || true",
     .right_part = ""},
    {.id = "approve-everything",
     .severity = Severity::warning,
     .title = "a script that approves every certificate request",
     .why =
         "Whoever holds the bootstrap identity, and every Ignition config holds it, may ask for the certificate of any "
         "node, and gets it.",
     .fix = "Approve what the expected requestor asks for an expected node: the bootstrap identity for the client "
            "certificate, the node itself for its serving one.",
     .source = "Kubernetes, TLS bootstrapping; OpenShift machine approver",
     .wrong = R"(#!/bin/bash
oc get csr -o name | xargs oc adm certificate approve
)",
     .wrong_part = "oc get csr -o name | xargs oc adm certificate approve",
     .right_part = "oc adm certificate approve csr-x7k2m"},
    {.id = "ignition-unverified",
     .severity = Severity::warning,
     .title = "an installation from a config that nothing vouches for",
     .why = "`--insecure-ignition` takes the config over plain HTTP, from whoever answers; it runs as root, and "
            "whoever asks "
            "gets its keys.",
     .fix = "`--ignition-hash=sha512-...` beside it, and serve it no longer than it is needed.",
     .source = "coreos-installer docs",
     .wrong = R"(#!/bin/bash
coreos-installer install /dev/vda --insecure-ignition --ignition-url=http://192.168.126.1:8080/master-0.ign
)",
     .wrong_part = "--insecure-ignition",
     .right_part = "--ignition-hash=sha512-0a1b"},
    {.id = "ignition-name",
     .severity = Severity::error,
     .title = "an installation from a config that is not in the set",
     .why = "`HTTP 404`, at the console of the machine; or, where an old file of that name is still there, three nodes "
            "with "
            "one name and one address.",
     .fix = "The file of this node: `master-0.ign`.",
     .source = "the names of the set itself",
     .wrong = R"(==> install.sh
#!/bin/bash
coreos-installer install /dev/vda --ignition-hash=sha512-0a1b --ignition-url=http://192.168.126.1:8080/master.ign
==> master-0.ign
{"ignition": {"version": "3.2.0"}}
)",
     .wrong_part = "/master.ign",
     .right_part = "/master-0.ign"},
    {.id = "address-not-kept",
     .severity = Severity::info,
     .title = "a virtual address that is added by hand",
     .why =
         "A workaround of a lab: the address stands in for keepalived, moves to no other host, and is gone after the "
         "next boot.",
     .fix = "keepalived where two hosts share it; else a profile of NetworkManager.",
     .source = "ip-address(8)",
     .wrong = R"(#!/bin/bash
ip addr add 192.168.126.10/24 dev virbr1
)",
     .wrong_part = "ip addr add 192.168.126.10/24 dev virbr1",
     .right_part = "nmcli connection modify virbr1 +ipv4.addresses 192.168.126.10/24"},
    {.id = "masquerade-by-hand",
     .severity = Severity::info,
     .title = "address translation for virtual machines, written by hand",
     .why = "A workaround: libvirt writes these rules for a network with `<forward mode='nat'>`. They were missing "
            "because "
            "firewalld, or another program, replaced the tables after libvirt had started; the rule by hand is gone at "
            "the "
            "next reload as well.",
     .fix = "Restart the libvirt network after the firewall, or let firewalld have the zone `libvirt`.",
     .source = "libvirt, firewall and network filtering",
     .wrong = R"(#!/bin/bash
iptables -t nat -A POSTROUTING -s 192.168.126.0/24 ! -d 192.168.126.0/24 -j MASQUERADE
)",
     .wrong_part = "iptables -t nat -A POSTROUTING -s 192.168.126.0/24 ! -d 192.168.126.0/24 -j MASQUERADE",
     .right_part = "virsh net-destroy ocp4 && virsh net-start ocp4"},
    {.id = "firewall-ports",
     .severity = Severity::warning,
     .title = "a firewall that is opened for a part of what a cluster needs",
     .why = "6443 is the API, 22623 what nodes fetch their configs from, 443 and 80 the applications. A port that is "
            "missing shows as a timeout, at nodes that don't get their config or at the console.",
     .fix = "All four, on the host with the load balancer, in the zone of the machines' network.",
     .source = "openshift/installer docs, networking requirements",
     .wrong = R"(#!/bin/bash
firewall-cmd --zone=libvirt --permanent --add-port=6443/tcp --add-port=443/tcp --add-port=80/tcp
)",
     .wrong_part = "--add-port=6443/tcp",
     .right_part = "--add-port=6443/tcp --add-port=22623/tcp"},
    {.id = "machine-boot-order",
     .severity = Severity::error,
     .title = "a machine that boots from its CD-ROM first",
     .why = "The live ISO starts again after the installation, and again: the installed disk never gets its turn.",
     .fix = "`<boot dev='hd'/>` before `<boot dev='cdrom'/>`: an empty disk falls through to the ISO, an installed one "
            "wins.",
     .source = "libvirt domain format, operating system booting",
     .wrong = R"(<domain type='kvm'>
  <os>
    <boot dev='cdrom'/>
    <boot dev='hd'/>
  </os>
</domain>
)",
     .wrong_part = "    <boot dev='cdrom'/>\n    <boot dev='hd'/>",
     .right_part = "    <boot dev='hd'/>\n    <boot dev='cdrom'/>"},
    {.id = "machine-disk-path",
     .severity = Severity::error,
     .title = "a machine whose disk or ISO lies in a home directory",
     .why = "qemu runs as a user of its own, which may not go through `/home/USER` or `/root`: `Could not open ...: "
            "Permission denied`.",
     .fix = "Disks, the ISO and what is served to machines in a libvirt pool, such as `/var/lib/libvirt/images`.",
     .source = "libvirt, storage pools; qemu driver security",
     .wrong = R"(<domain type='kvm'>
  <devices>
    <disk type='file' device='cdrom'>
      <source file='/home/lab/rhcos-live.iso'/>
    </disk>
  </devices>
</domain>
)",
     .wrong_part = "/home/lab/",
     .right_part = "/var/lib/libvirt/images/"},
    {.id = "network-without-dhcp",
     .severity = Severity::warning,
     .title = "a libvirt network without DHCP",
     .why = "The live ISO asks for an address before anything is installed, and gets no config without one. Installed "
            "nodes "
            "have static addresses; that comes later.",
     .fix =
         "`<dhcp><range start='...' end='...'/></dhcp>`, with a range apart from the nodes' and the virtual addresses.",
     .source = "libvirt network format, addressing",
     .wrong = R"(<network>
  <name>ocp4</name>
  <forward mode='nat'/>
  <ip address='192.168.126.1' prefix='24'>
  </ip>
</network>
)",
     .wrong_part = "prefix='24'>\n",
     .right_part = "prefix='24'>\n    <dhcp><range start='192.168.126.200' end='192.168.126.249'/></dhcp>\n"},
    {.id = "pod-address-of-script",
     .severity = Severity::warning,
     .title = "a script that takes a pod's address from where a primary network has another",
     .why =
         "`status.podIP` of a pod on a primary user-defined network is its address on the default network, which the "
         "network's own pods don't reach; `ip_address` of the annotation is absent with two families.",
     .fix = "`k8s.ovn.org/pod-networks`, the entry with the role `primary`, `ip_addresses[]`.",
     .source = "ovn-kubernetes go-controller/pkg/util/pod_annotation.go",
     .wrong = R"(#!/bin/bash
oc -n clusters-blue get pod etcd-0 -o jsonpath='{.metadata.annotations.k8s\.ovn\.org/pod-networks}' | jq -r '.["clusters-blue/hcp-blue"].ip_address'
)",
     .wrong_part = "'.[\"clusters-blue/hcp-blue\"].ip_address'",
     .right_part = "'.[] | select(.role == \"primary\").ip_addresses[]'"},
};

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}
/// Whether the word stands there and is no part of a longer one.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end >= text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

/// "|| true" and "|| :", with blanks or without.
bool ignores_failure(std::string_view text) {
  for (std::size_t at = text.find("||"); at != std::string_view::npos; at = text.find("||", at + 2)) {
    const std::string_view rest = trimmed(text.substr(at + 2));
    if (rest.starts_with("true") || rest == ":" || rest.starts_with(": ") || rest.starts_with(":;")) return true;
  }
  return false;
}

class ScriptChecker {
 public:
  ScriptChecker(const Set& set, const LineFile& file, Reporter& reporter)
      : set_(set), file_(file), reporter_(reporter) {}

  void run() {
    for (const Line& line : lines_of(file_.text, true)) {
      if (trimmed(line.text).starts_with('#')) continue;
      check(line);
    }
    check_firewall();
  }

 private:
  void add(std::string_view rule, const Line& line, std::string message) {
    reporter_.add(rule, file_, line.number, std::move(message));
  }

  void check(const Line& line) {
    const std::string& text = line.text;
    const bool is_client = has_word(text, "oc") || has_word(text, "kubectl");
    const bool has_file = contains(text, " -f") || contains(text, " --filename");
    // "create namespace" and the like fail where the object is there already, and nothing is lost then.
    const bool applies = has_word(text, "apply") || (has_word(text, "create") && has_file);
    if (is_client && applies && ignores_failure(text))
      add("apply-errors-ignored", line, "what is not applied here is not noticed");
    check_approval(line);
    if (contains(text, "coreos-installer install")) check_installation(line);
    if (contains(text, "ip addr add") || contains(text, "ip address add") || contains(text, "ip a add") ||
        contains(text, "ip address replace") || contains(text, "ip addr replace"))
      add("address-not-kept", line, "this address is gone after the next boot");
    if (contains(text, "MASQUERADE") || (has_word(text, "nft") && has_word(text, "masquerade")))
      add("masquerade-by-hand", line, "libvirt writes such rules itself");
    if (contains(text, "--add-port")) note_ports(line);
    if (contains(text, "pod-networks") && has_word(text, "ip_address"))
      add("pod-address-of-script", line, "ip_address is absent where a pod has two addresses");
    if (contains(text, "status.podIP") && contains(text, "virt-launcher"))
      add("pod-address-of-script", line, "status.podIP is the address on the default network");
  }

  /// On one line, or in a loop over all requests that looks at none of them.
  void check_approval(const Line& line) {
    const std::string& text = line.text;
    const bool lists = contains(text, "get csr") || contains(text, "get certificatesigningrequest");
    if (lists && (has_word(text, "for") || has_word(text, "while")))
      in_requests_ = !has_word(text, "done");
    else if (has_word(text, "done") || has_word(text, "if") || has_word(text, "case") || contains(text, "[["))
      in_requests_ = false;
    if (contains(text, "certificate approve") && (contains(text, "xargs") || lists || in_requests_))
      add("approve-everything", line, "every request is approved");
  }

  void check_installation(const Line& line) {
    const std::vector<std::string> words = words_of(line.text);
    if (flag(words, "--insecure-ignition") && !flag(words, "--ignition-hash"))
      add("ignition-unverified", line, "nothing vouches for the config");
    const std::string url = flag(words, "--ignition-url").value_or("");
    const std::string name = url.substr(url.rfind('/') + 1);
    // A name with a variable in it is nobody's to check here.
    const bool is_plain = name.find_first_of("$<>{}") == std::string::npos && name.ends_with(".ign");
    bool has_others = false, is_there = false;
    for (const Ignition& config : set_.ignitions) {
      const std::string& file = config.origin->file;
      if (config.is_machine_config) continue;
      has_others = true;
      is_there = is_there || file.substr(file.rfind('/') + 1) == name;
    }
    if (is_plain && has_others && !is_there) add("ignition-name", line, "the set has no " + name);
  }

  void note_ports(const Line& line) {
    if (first_port_line_.number == 0) first_port_line_ = line;
    for (const std::string& word : words_of(line.text)) {
      constexpr std::string_view kFlag = "--add-port=";
      if (word.starts_with(kFlag)) ports_.push_back(word.substr(kFlag.size(), word.find('/') - kFlag.size()));
    }
  }
  void check_firewall() {
    if (first_port_line_.number == 0) return;
    const auto is_open = [&](const char* port) { return std::ranges::find(ports_, port) != ports_.end(); };
    static constexpr std::array<const char*, 4> kPorts{"6443", "22623", "443", "80"};
    if (!is_open("6443") && !is_open("22623")) return;  // of something else
    std::string missing;
    for (const char* port : kPorts)
      if (!is_open(port)) (missing += missing.empty() ? "" : ", ") += port;
    if (!missing.empty()) add("firewall-ports", first_port_line_, "not opened: " + missing);
  }

  const Set& set_;
  const LineFile& file_;
  Reporter& reporter_;
  bool in_requests_ = false;  ///< in a loop over them
  Line first_port_line_;
  std::vector<std::string> ports_;
};

void check_xml(const LineFile& file, Reporter& reporter) {
  bool has_disk_first = false, is_network = false, has_dhcp = false, has_ip = false;
  std::uint32_t ip_line = 0;
  for (const Tag& tag : tags_of(file.text)) {
    if (tag.name == "network" && ip_line == 0 && !has_ip) is_network = true;
    if (tag.name == "ip" && is_network) {
      has_ip = true;
      ip_line = tag.line;
    }
    has_dhcp = has_dhcp || tag.name == "dhcp";
    if (tag.name == "boot") {
      has_disk_first = has_disk_first || tag.attribute("dev") == "hd";
      if (tag.attribute("dev") == "cdrom" && !has_disk_first)
        reporter.add("machine-boot-order", file, tag.line, "the CD-ROM comes before the disk");
    }
    const std::string path = tag.attribute("file");
    if (tag.name == "source" && (path.starts_with("/home/") || path.starts_with("/root/")))
      reporter.add("machine-disk-path", file, tag.line, "qemu can't get at " + path);
  }
  if (is_network && has_ip && !has_dhcp)
    reporter.add("network-without-dhcp", file, ip_line, "nobody gives the live ISO an address");
}

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const LineFile& file : set.scripts) ScriptChecker(set, file, reporter).run();
  for (const LineFile& file : set.xml_files) check_xml(file, reporter);
}

}  // namespace

Family host_rules() {
  return {"Scripts and virtual machines", "Shell scripts, libvirt domains and networks.", kRules, check};
}

}  // namespace hcpnet::lint
