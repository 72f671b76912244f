// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "spec/fields.hpp"

namespace hcpnet::spec {

void describe_metadata(Fields& fields, ObjectMeta& metadata);
void describe_external_service(Fields& fields, ExternalService& service);
void describe_option(Fields& fields, DhcpOption& option);
void describe_static_entry(Fields& fields, StaticEntry& entry);

/// The frame of every object; `describe_spec(fields, object)` visits what is in spec.
template <class Kind, class DescribeSpec>
void describe_object(Fields& fields, Kind& object, DescribeSpec describe_spec) {
  fields.ignored("apiVersion");  // settled before: they say what this object is
  fields.ignored("kind");
  fields.ignored("status");
  fields.group("metadata", Need::required, [&](Fields& f) { describe_metadata(f, object.metadata); });
  fields.group("spec", Need::required, [&](Fields& f) { describe_spec(f, object); });
}

}  // namespace hcpnet::spec
