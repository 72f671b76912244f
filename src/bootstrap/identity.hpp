// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bootstrap/inputs.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What is made at random once and kept from then on; and names for machines, made of what they are called.
namespace hcpnet::bootstrap {

inline constexpr char kMetadataFile[] = "metadata.json";
inline constexpr char kPasswordFile[] = "auth/kubeadmin-password";
inline constexpr char kPasswordHashFile[] = "auth/kubeadmin-password.bcrypt";

[[nodiscard]] ClusterIds make_ids(std::string_view cluster_name);
/// The installer's metadata.json: clusterName, clusterID, infraID.
[[nodiscard]] std::string render_metadata(std::string_view cluster_name, const ClusterIds& ids);
/// nullopt when it is none, or of another cluster.
[[nodiscard]] std::optional<ClusterIds> parse_metadata(std::string_view text, std::string_view cluster_name);

/// Four groups of five characters that nobody takes for others.
[[nodiscard]] pki::Secret make_password();
[[nodiscard]] std::string bcrypt(const pki::Secret& password);
[[nodiscard]] bool is_hash_of(const pki::Secret& password, const std::string& hash);

/// The UUID of a domain name (RFC 9562 section 5.5, version 5): the same for the same name.
[[nodiscard]] std::string name_uuid(std::string_view domain_name);

}  // namespace hcpnet::bootstrap
