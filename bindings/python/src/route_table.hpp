// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/proxy/route_table.hpp>
#include <memory>
#include <optional>

namespace hcpnet::python {

/// Compiled routes with the clients that are known to belong to clusters, unless a call says otherwise.
struct Table {
  std::shared_ptr<const proxy::RouteTable> routes;
  proxy::SourceClusters clusters;

  [[nodiscard]] const proxy::SourceClusters& clusters_or(const std::optional<proxy::SourceClusters>& given) const {
    return given ? *given : clusters;
  }
};

}  // namespace hcpnet::python
