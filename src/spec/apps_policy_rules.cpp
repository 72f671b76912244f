// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "spec/rules.hpp"

namespace hcpnet::spec {

void check_apps_policies(std::vector<Examined<AppsPolicy>>& policies,
                         std::vector<Examined<InfraClusterAttachment>>& attachments, bool set_is_complete) {
  const std::string kind = "/spec/targetRef/kind", name = "/spec/targetRef/name";
  for (Examined<AppsPolicy>& policy : policies) {
    Subject& subject = policy.subject;
    const TargetRef& ref = policy.value.target;
    if (!subject.is_good(kind) || !subject.is_good(name)) continue;
    if (ref.kind != "InfraClusterAttachment") {
      subject.error(code::bad_choice, kind, "this policy refines no such kind", "InfraClusterAttachment");
      continue;
    }
    if (!subject.is_good("/metadata/namespace")) continue;  // nobody knows where to look
    const std::string& ns = policy.value.metadata.namespace_;
    const auto target = std::ranges::find_if(attachments, [&](const Examined<InfraClusterAttachment>& attachment) {
      const ObjectMeta& metadata = attachment.value.metadata;
      return attachment.subject.has_identity() && metadata.namespace_ == ns && metadata.name == ref.name;
    });
    const std::string key = ref.kind + ' ' + ns + '/' + ref.name;
    if (target == attachments.end()) {
      if (set_is_complete && !may_hold(attachments, ns, ref.name))
        subject.error(code::bad_reference, name, "there is no " + key + " in these files");
    } else if (target->apps != nullptr) {
      subject.error(code::duplicate_policy, name,
                    key + " has a policy of this kind already: " + target->apps->value.metadata.key() + " (" +
                        target->apps->subject.where(name) + ')');
    } else if (const std::string enabled = "/spec/appsIngress/enabled";
               target->value.apps_ingress.enabled && target->subject.is_good(enabled)) {
      subject.error(code::bad_combination, kStaticVip,
                    key + " has appsIngress enabled (" + target->subject.where(enabled) +
                        "): applications have one fixed address or a pool of MetalLB's, and not both");
    } else {
      target->apps = &policy;
    }
  }
}

}  // namespace hcpnet::spec
