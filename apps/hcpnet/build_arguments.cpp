// SPDX-License-Identifier: Apache-2.0
#include "build_arguments.hpp"

#include <iostream>

namespace hcpnet::app {
namespace {

template <class List>
CLI::IsMember one_of(const List& list) {
  return CLI::IsMember(std::vector<std::string>(list.begin(), list.end()));
}

}  // namespace

std::vector<CLI::Option*> BuildArguments::add_to(CLI::App& command) {
  return {
      command.add_option("--deployment", deployment, "one process, a pod for each server, or CoreDNS and Envoy")
          ->check(CLI::IsMember({"one", "split", "coredns-envoy"}))
          ->type_name("one|split|coredns-envoy"),
      command
          .add_option("--link", link,
                      "make the network attachments too, such as bridge:br-vlan7,vlan=7 or macvlan:eth1,mtu=1500")
          ->type_name("TYPE:DEVICE"),
      command.add_option("--image", image, "image of hcpnet")->type_name("IMAGE"),
      command.add_option("--coredns-image", coredns_image, "image of CoreDNS")->type_name("IMAGE"),
      command
          .add_option("--admission-version", admission_version,
                      "version of admissionregistration.k8s.io in which the cluster has MutatingAdmissionPolicy")
          ->check(one_of(manifest::kAdmissionVersions))
          ->type_name("v1|v1beta1|v1alpha1"),
      command.add_option("--without", without, "leave out a kind that the cluster doesn't have; repeatable")
          ->check(one_of(manifest::kOptionalKinds))
          ->type_name("KIND")
          ->allow_extra_args(false)
          ->take_all(),
  };
}

std::optional<manifest::BuildOptions> BuildArguments::options() const {
  manifest::BuildOptions options;
  options.deployment = *manifest::parse_deployment(deployment);
  options.image = image;
  if (!coredns_image.empty()) options.coredns_image = coredns_image;
  options.admission_version = admission_version;
  options.without.insert(without.begin(), without.end());
  if (link.empty()) return options;
  auto parsed = manifest::parse_link(link);
  if (!parsed) {
    std::cerr << "hcpnet: --link: " << link << ' ' << parsed.error() << '\n';
    return std::nullopt;
  }
  options.link = std::move(*parsed);
  return options;
}

}  // namespace hcpnet::app
