// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/observed.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace hcpnet::reconcile {

/// Objects as a cluster showed them, whole, found by what they are. Of two with one identity the last is kept.
class ClusterObjects {
 public:
  /// What has no kind or no name is passed over.
  void add(nlohmann::json object);
  /// The observed form of `object`: of its API group, kind, namespace and name. Null when there is none.
  [[nodiscard]] const nlohmann::json* find(const nlohmann::json& object) const;
  /// In the order of their names. `group` is "" for the core.
  [[nodiscard]] std::vector<const nlohmann::json*> all(std::string_view group, std::string_view kind,
                                                       std::string_view namespace_) const;
  [[nodiscard]] bool empty() const noexcept { return objects_.empty(); }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  ///< group, kind, namespace, name
  static Key key_of(const nlohmann::json& object);
  std::map<Key, nlohmann::json> objects_;
};

/// Reads what `kubectl get -o yaml` prints: objects and lists of them. Errors: files that can't be read.
[[nodiscard]] Result<ClusterObjects, Diagnostics> load_cluster_objects(
    const std::vector<spec::SourceText>& sources, const spec::LoadLimits& limits = spec::kObservedLimits);

}  // namespace hcpnet::reconcile
