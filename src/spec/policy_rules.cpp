// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/engine_settings.hpp>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "spec/format.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kKind = "/spec/targetRef/kind";
const std::string kName = "/spec/targetRef/name";
constexpr std::uint16_t kDnsPort = 53;

std::string at(const char* list, std::size_t index, const char* field) {
  return std::string("/spec/") + list + '/' + std::to_string(index) + '/' + field;
}

template <class Kind>
const Examined<Kind>* find_target(const std::vector<Examined<Kind>>& objects, const ObjectMeta& metadata,
                                  const std::string& name) {
  const auto found = std::ranges::find_if(objects, [&](const Examined<Kind>& object) {
    return object.subject.has_identity() && object.value.metadata.namespace_ == metadata.namespace_ &&
           object.value.metadata.name == name;
  });
  return found == objects.end() ? nullptr : &*found;
}

/// What a policy refines: an Infra or the server of its part; neither where the reference is at fault.
template <class Server>
struct Target {
  const Examined<Infra>* infra = nullptr;
  const Examined<Server>* server = nullptr;
};

/// Finds targets of one kind of policy and reports what is wrong with the references.
template <class Policy, class Server>
class TargetFinder {
 public:
  TargetFinder(const std::vector<Examined<Infra>>& infras, const std::vector<Examined<Server>>& servers,
               std::string server_kind, bool complete)
      : infras_(infras), servers_(servers), server_kind_(std::move(server_kind)), complete_(complete) {}

  Target<Server> find(Examined<Policy>& policy) {
    Subject& subject = policy.subject;
    const TargetRef& ref = policy.value.target;
    if (!subject.is_good(kKind) || !subject.is_good(kName)) return {};
    if (ref.kind != "Infra" && ref.kind != server_kind_) {
      subject.error(code::bad_choice, kKind, "this policy refines no such kind",
                    server_kind_ == "DHCPServer"  ? "Infra or DHCPServer"
                    : server_kind_ == "DNSServer" ? "Infra or DNSServer"
                                                  : "Infra or ProxyServer");
      return {};
    }
    if (!subject.is_good("/metadata/namespace")) return {};  // nobody knows where to look
    Target<Server> target;
    const ObjectMeta& metadata = policy.value.metadata;
    if (ref.kind == "Infra")
      target.infra = find_target(infras_, metadata, ref.name);
    else
      target.server = find_target(servers_, metadata, ref.name);
    const std::string key = ref.kind + ' ' + metadata.namespace_ + '/' + ref.name;
    if (target.infra == nullptr && target.server == nullptr) {
      const bool may_be_there = !complete_ || (ref.kind == "Infra" ? may_hold(infras_, metadata.namespace_, ref.name)
                                                                   : may_hold(servers_, metadata.namespace_, ref.name));
      if (!may_be_there) subject.error(code::bad_reference, kName, "there is no " + key + " in these files");
      return {};
    }
    const auto [first, is_new] = claimed_.emplace(key, &policy);
    if (is_new) return target;
    subject.error(code::duplicate_policy, kName,
                  key + " has a policy of this kind already: " + first->second->value.metadata.key() + " (" +
                      first->second->subject.where(kName) + ')');
    return {};
  }

 private:
  const std::vector<Examined<Infra>>& infras_;
  const std::vector<Examined<Server>>& servers_;
  std::string server_kind_;
  bool complete_;
  std::map<std::string, const Examined<Policy>*> claimed_;
};

/// The networks that already select a view of the target: those of an Infra's link, or that of a DNSServer.
std::vector<Cidr> own_view(const Target<DNSServer>& target, const std::vector<Examined<DHCPPolicy>>& dhcp_policies) {
  std::vector<Cidr> networks;
  if (target.server != nullptr && target.server->value.secondary_network_cidr)
    if (const auto cidr = parse_cidr(*target.server->value.secondary_network_cidr)) networks.push_back(*cidr);
  if (target.infra == nullptr) return networks;
  if (target.infra->plan.cidr) networks.emplace_back(*target.infra->plan.cidr);
  const ObjectMeta& infra = target.infra->value.metadata;
  for (const Examined<DHCPPolicy>& policy : dhcp_policies) {
    if (policy.value.target.kind != "Infra" || policy.value.target.name != infra.name ||
        policy.value.metadata.namespace_ != infra.namespace_)
      continue;
    for (const DHCPPolicy::Subnet& subnet : policy.value.subnets)
      if (const auto cidr = parse_cidr(subnet.cidr)) networks.push_back(*cidr);
  }
  return networks;
}

/// An upstream of a zone, or a secondary, that is the server itself.
void check_zone_upstreams(Examined<DNSPolicy>& policy, const Target<DNSServer>& target) {
  std::optional<Endpoint> own;
  if (target.infra != nullptr && target.infra->value.dns) {
    if (!target.infra->subject.is_good("/spec/infraComponents/dns/serverIP")) return;
    if (const auto address = address_of(target.infra->value.dns->server_ip)) own = Endpoint{*address, kDnsPort};
  } else if (target.server != nullptr) {
    const Subject& server = target.server->subject;
    if (!server.is_good("/spec/networkConfig/serverIP") || !server.is_good("/spec/networkConfig/dnsPort")) return;
    if (const auto address = address_of(target.server->value.server_ip))
      own = Endpoint{*address, target.server->value.dns_port};
  }
  if (!own) return;
  if (policy.value.transfer) {
    const std::vector<std::string>& notify = policy.value.transfer->notify;
    for (std::size_t i = 0; i < notify.size(); ++i) {
      const std::string pointer = "/spec/transfer/notify/" + std::to_string(i);
      if (policy.subject.is_good(pointer) && parse_endpoint(notify[i], kDnsPort) == own)
        policy.subject.error(code::forward_loop, pointer, "this is the DNS server itself, which has its own zones");
    }
  }
  if (!policy.value.forwarding) return;
  const auto& zones = policy.value.forwarding->zones;
  for (std::size_t i = 0; i < zones.size(); ++i)
    for (std::size_t j = 0; j < zones[i].upstreams.size(); ++j) {
      const std::string pointer = at("forwarding/zones", i, "upstreams/") + std::to_string(j);
      if (policy.subject.is_good(pointer) && parse_endpoint(zones[i].upstreams[j], kDnsPort) == own)
        policy.subject.error(code::forward_loop, pointer, "this is the DNS server itself, which would ask itself");
    }
}

void check_views(Examined<DNSPolicy>& policy, const std::vector<Cidr>& own) {
  Subject& subject = policy.subject;
  std::map<std::string, std::string> names{{"vlan", "a view of ours"}, {"pod", "a view of ours"}};
  std::map<Cidr, std::string> prefixes;
  for (const Cidr& network : own) prefixes.emplace(network, "the network of the target");
  for (std::size_t i = 0; i < policy.value.views.size(); ++i) {
    const DNSPolicy::ExtraView& view = policy.value.views[i];
    if (const std::string pointer = at("views", i, "name"); subject.is_good(pointer)) {
      const auto [first, is_new] = names.emplace(view.name, "view " + std::to_string(i));
      if (!is_new) subject.error(code::duplicate_name, pointer, first->second + " has this name");
    }
    for (std::size_t j = 0; j < view.client_prefixes.size(); ++j) {
      const std::string pointer = at("views", i, "clientPrefixes/") + std::to_string(j);
      const auto prefix = parse_cidr(view.client_prefixes[j]);
      if (!prefix || !subject.is_good(pointer)) continue;
      const auto [first, is_new] = prefixes.emplace(*prefix, "view " + std::to_string(i));
      if (!is_new) subject.error(code::duplicate_prefix, pointer, "this prefix selects " + first->second + " already");
    }
  }
}

/// What is of no use without the other.
void check_pair(Subject& subject, const char* first, bool has_first, const char* second, bool has_second) {
  const std::string list = "/spec/sharedStore/";
  if (has_first == has_second || !subject.is_good(list + first) || !subject.is_good(list + second)) return;
  subject.error(code::bad_combination, list + (has_first ? first : second),
                std::string(first) + " and " + second + " come together");
}

void check_shared_store(Subject& subject, const DHCPPolicy& policy) {
  if (!policy.shared_store || !subject.is_good("/spec/sharedStore")) return;
  const DHCPPolicy::SharedStore& store = *policy.shared_store;
  check_pair(subject, "certificateFile", store.certificate_file.has_value(), "keyFile", store.key_file.has_value());
  check_pair(subject, "username", store.username.has_value(), "passwordFile", store.password_file.has_value());
  const bool is_plain = std::ranges::all_of(store.endpoints, [](const auto& e) { return e.starts_with("http://"); });
  if (!is_plain || !subject.is_good("/spec/sharedStore/endpoints")) return;
  const std::pair<const char*, bool> for_tls[] = {{"caFile", store.ca_file.has_value()},
                                                  {"certificateFile", store.certificate_file.has_value()},
                                                  {"keyFile", store.key_file.has_value()},
                                                  {"serverName", store.server_name.has_value()}};
  for (const auto& [field, is_there] : for_tls) {
    const std::string pointer = std::string("/spec/sharedStore/") + field;
    if (is_there && subject.is_good(pointer))
      subject.error(code::bad_combination, pointer, "no endpoint is spoken to by TLS", "an endpoint with https");
  }
}

std::optional<IpAddress> address_of(const ProxyPolicy::AllowedNames& allowed) {
  if (!allowed.address) return std::nullopt;
  return parse_ip_address(*allowed.address)->unmapped();
}

void check_allowed_names(Subject& subject, const ProxyPolicy& policy) {
  std::map<std::tuple<std::uint16_t, std::optional<IpAddress>, std::optional<ProxyPolicy::Side>>, std::size_t> lists;
  for (std::size_t i = 0; i < policy.allowed_names.size(); ++i) {
    const ProxyPolicy::AllowedNames& allowed = policy.allowed_names[i];
    const std::string pointer = at("allowedNames", i, "port");
    if (!subject.is_good(pointer) || !subject.is_good(at("allowedNames", i, "address")) ||
        !subject.is_good(at("allowedNames", i, "side")))
      continue;
    if (allowed.address && allowed.side)
      subject.error(code::bad_combination, at("allowedNames", i, "side"), "an address says on which side it is",
                    "address or side");
    const auto [first, is_new] = lists.emplace(std::tuple(allowed.port, address_of(allowed), allowed.side), i);
    if (!is_new) {
      subject.error(code::duplicate_name, pointer, "list " + std::to_string(first->second) + " is for this listener");
      continue;
    }
    const bool is_blind = std::ranges::any_of(policy.listeners, [&](const ProxyPolicy::Listener& listener) {
      return listener.port == allowed.port && listener.kind == ProxyPolicy::ListenerKind::tcp;
    });
    if (is_blind)
      subject.error(code::bad_combination, pointer, "a port of kind TCP sees no names, so it would serve nobody");
  }
}

void check_backends(Subject& subject, const std::vector<ProxyPolicy::Backend>& backends) {
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const std::string pointer = at("backends", i, "name");
    if (!subject.is_good(pointer)) continue;
    const auto [first, is_new] = names.emplace(backends[i].name, i);
    if (!is_new)
      subject.error(code::duplicate_name, pointer, "backend " + std::to_string(first->second) + " has this name");
  }
}

void check_socket_buffer(Subject& subject, const char* field, const std::optional<std::int64_t>& bytes) {
  const std::string pointer = std::string("/spec/socketBuffers/") + field;
  constexpr auto kLeast = static_cast<std::int64_t>(proxy::kLeastSocketBufferBytes);
  if (subject.is_good(pointer) && bytes.value_or(0) > 0 && *bytes < kLeast)
    subject.error(code::out_of_range, pointer, "too small for the segments of a fast network",
                  "0, or at least " + std::to_string(kLeast));
}

// IFNAMSIZ counts the final NUL.
constexpr std::size_t kMaxInterfaceBytes = 15;

/// What Linux takes, but for what would end a word in another program's configuration.
bool may_be_interface(std::string_view name) {
  return !name.empty() && name.size() <= kMaxInterfaceBytes && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte <= 0x20 || byte == 0x7f || std::string_view("/:\"'\\#").find(c) != std::string_view::npos;
         });
}

void check_proxy_policy(Examined<ProxyPolicy>& policy) {
  Subject& subject = policy.subject;
  const ProxyPolicy& value = policy.value;
  std::map<std::uint16_t, std::size_t> ports;
  for (std::size_t i = 0; i < value.listeners.size(); ++i) {
    const std::string pointer = at("listeners", i, "port");
    if (!subject.is_good(pointer)) continue;
    const auto [first, is_new] = ports.emplace(value.listeners[i].port, i);
    if (!is_new)
      subject.error(code::duplicate_name, pointer, "listener " + std::to_string(first->second) + " has this port");
  }
  if (value.dial_from.size() == 2 && subject.is_good("/spec/dialFrom/0") && subject.is_good("/spec/dialFrom/1") &&
      parse_ip_address(value.dial_from[0])->is_v4() == parse_ip_address(value.dial_from[1])->is_v4())
    subject.error(code::bad_combination, "/spec/dialFrom/1", "two addresses of one family", "one of each at most");
  if (subject.is_good("/spec/proxyProtocol/send") && subject.is_good("/spec/proxyProtocol/backends") &&
      value.send_proxy_header.has_value() == value.proxy_header_to.empty())
    subject.error(code::bad_combination,
                  value.send_proxy_header ? "/spec/proxyProtocol/send" : "/spec/proxyProtocol/backends",
                  "send and backends come together: which header, and who understands it");
  if (value.interface && !may_be_interface(*value.interface))
    subject.error(code::bad_name, "/spec/interface",
                  "the name of a network interface has 1 to 15 characters, without blanks, slashes, colons, quotes, "
                  "backslashes and \"#\"");
  if (value.health_check && subject.is_good("/spec/healthCheck/timeoutSeconds") &&
      subject.is_good("/spec/healthCheck/intervalSeconds") &&
      value.health_check->timeout > value.health_check->interval)
    subject.error(code::bad_combination, "/spec/healthCheck/timeoutSeconds",
                  "a check ends before the next one begins: at most intervalSeconds");
  check_allowed_names(subject, value);
  check_backends(subject, value.backends);
  check_socket_buffer(subject, "receiveBytes", value.receive_buffer_bytes);
  check_socket_buffer(subject, "sendBytes", value.send_buffer_bytes);
  if (!value.access_log_template) return;
  const auto format = proxy::AccessLogFormat::text(*value.access_log_template);
  if (format.has_error())
    subject.error(code::bad_template, "/spec/accessLog/template", format.error());
  else if (value.access_log == ProxyPolicy::AccessLog::json)
    subject.error(code::bad_combination, "/spec/accessLog/template", "a template is for the format text");
}

/// Otherwise a slip of the pen would leave the port that is meant at its usual kind.
void check_listener_ports(Subject& subject, const ProxyPolicy& policy, const Target<ProxyServer>& target) {
  using Kind = ProxyPolicy::ListenerKind;
  for (std::size_t i = 0; i < policy.listeners.size(); ++i) {
    const ProxyPolicy::Listener& listener = policy.listeners[i];
    const std::string pointer = at("listeners", i, "port");
    if (!subject.is_good(pointer) || !subject.is_good(at("listeners", i, "kind"))) continue;
    if (target.infra != nullptr && listener.kind != (listener.port == 80 ? Kind::http : Kind::tls))
      subject.warning(code::unused_port, pointer,
                      "the listeners of an Infra are HTTP on port 80 and TLS on every other: this is not used");
    if (target.server == nullptr) continue;
    const std::vector<ProxyBackend>& backends = target.server->value.backends;
    bool may_be_used = false;
    for (std::size_t j = 0; j < backends.size(); ++j)
      may_be_used |= !target.server->subject.is_good(at("backends", j, "port")) ||
                     !target.server->subject.is_good(at("backends", j, "protocol")) ||
                     (backends[j].port == listener.port && backends[j].protocol == Protocol::tcp);
    if (!may_be_used)
      subject.warning(code::unused_port, pointer,
                      "no TCP backend of ProxyServer " + target.server->value.metadata.key() + " has this port");
  }
}

}  // namespace

void check_policies(ExaminedPolicies& policies, PolicyTargets targets, bool set_is_complete) {
  TargetFinder<DHCPPolicy, DHCPServer> dhcp(targets.infras, targets.dhcp_servers, "DHCPServer", set_is_complete);
  for (Examined<DHCPPolicy>& policy : policies.dhcp) {
    const auto target = dhcp.find(policy);
    check_options(policy.subject, "/spec/options", policy.value.options);
    check_ipv6(policy.subject, policy.value);
    check_shared_store(policy.subject, policy.value);
    auto given = check_pools(policy, target.infra != nullptr    ? &target.infra->plan
                                     : target.server != nullptr ? &target.server->plan
                                                                : nullptr);
    if (target.infra == nullptr || !target.infra->plan.range) continue;  // nothing is given out
    const auto infra = static_cast<std::size_t>(target.infra - targets.infras.data());
    targets.infras[infra].plan.given = std::move(given);
  }
  check_policy_subnets(policies.dhcp, targets);
  check_ipv6_networks(policies.dhcp);
  TargetFinder<DNSPolicy, DNSServer> dns(targets.infras, targets.dns_servers, "DNSServer", set_is_complete);
  for (Examined<DNSPolicy>& policy : policies.dns) {
    const auto target = dns.find(policy);
    check_views(policy, own_view(target, policies.dhcp));
    check_zone_upstreams(policy, target);
    check_dns_conduct(policy.subject, policy.value);
    check_records(policy.subject, "/spec/records", policy.value.records, policy.value.record_ttl);
    for (std::size_t i = 0; i < policy.value.views.size(); ++i)
      check_records(policy.subject, at("views", i, "records"), policy.value.views[i].records, policy.value.record_ttl);
  }
  TargetFinder<ProxyPolicy, ProxyServer> proxy(targets.infras, targets.proxy_servers, "ProxyServer", set_is_complete);
  for (Examined<ProxyPolicy>& policy : policies.proxy) {
    const auto target = proxy.find(policy);
    check_proxy_policy(policy);
    check_listener_ports(policy.subject, policy.value, target);
  }
}

}  // namespace hcpnet::spec
