// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/spec/model.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/text/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::spec {

/// An object as a cluster printed it; `value` belongs to a document that `root` keeps.
struct ObservedObject {
  ObjectMeta metadata;
  std::string file;
  std::string path;  ///< in its document
  const text::Value* value = nullptr;
  std::shared_ptr<const text::Value> root;

  [[nodiscard]] const text::Value* find(std::string_view pointer) const { return text::find(*value, pointer); }
  /// A string there, or empty.
  [[nodiscard]] std::string string_at(std::string_view pointer) const;
  /// The items of a list there, or none.
  [[nodiscard]] const std::vector<text::Value>& items_at(std::string_view pointer) const;
  /// A warning about the value at `pointer`.
  [[nodiscard]] Diagnostic warning(std::string_view code, std::string_view pointer, std::string message) const;
};
/// The text of a string; empty for all else and for nullptr.
[[nodiscard]] std::string text_of(const text::Value* value);
[[nodiscard]] std::string string_of(const text::Value& map, std::string_view field);

struct ObservedObjects {
  std::vector<ObservedObject> services, slices, machine_instances, machines, hosted_clusters, infras, attachments,
      routes, ingresses, virtual_machines;
};

/// True of what collect_objects() takes, by its apiVersion and kind.
[[nodiscard]] bool is_observed_kind(std::string_view api_version, std::string_view kind);

/// Reads the files and sorts each kind by has_precedence(). What cannot be read is added to `errors`.
[[nodiscard]] ObservedObjects collect_objects(const std::vector<SourceText>& sources, const LoadLimits& limits,
                                              Diagnostics& errors);

/// True of "namespace/service:port", as the keys of an endpoint map are.
[[nodiscard]] bool is_endpoint_key(std::string_view key);

/// Endpoint maps: adds to `observed`, replacing what is there from slices.
void read_endpoint_maps(const std::vector<SourceText>& sources, const LoadLimits& limits, Observed& observed,
                        Diagnostics& errors);

}  // namespace hcpnet::spec
