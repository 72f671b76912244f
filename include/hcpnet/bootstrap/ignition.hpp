// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/key.hpp>
#include <hcpnet/result.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Ignition configs, which a node reads at its first boot. https://coreos.github.io/ignition/specs/
namespace hcpnet::bootstrap {

struct NodeFile {
  std::string path;  ///< absolute
  pki::Secret contents;
  unsigned mode = 0644;
};
/// A systemd unit; enabled, so that it starts at the first boot.
struct NodeUnit {
  std::string name, contents;
};
/// What one node gets.
struct NodeContent {
  std::vector<NodeFile> files;
  std::vector<NodeUnit> units;
  std::string ssh_key;  ///< of the user core; empty for none
};

enum class IgnitionVersion : std::uint8_t { v3_2_0, v3_4_0, v3_5_0 };
inline constexpr std::array kIgnitionVersions{"3.2.0", "3.4.0", "3.5.0"};
[[nodiscard]] std::string_view to_string(IgnitionVersion version) noexcept;
/// Of the configs of a node of OpenShift 4.<minor>, which is that of its machine-config operator: 3.4.0 from 4.14 on,
/// 3.5.0 from 4.19 on.
[[nodiscard]] IgnitionVersion ignition_version(unsigned minor) noexcept;
/// Of pointer configs: what boot images of every release in question read.
inline constexpr IgnitionVersion kPointerVersion = IgnitionVersion::v3_2_0;

/// "data:text/plain;charset=utf-8;base64,..." (RFC 2397); "data:," for nothing.
[[nodiscard]] std::string data_url(std::string_view bytes);
/// What a data URL holds, in base64 or with %XX; nullopt for what is none.
[[nodiscard]] std::optional<std::string> parse_data_url(std::string_view url);

/// Files replace what the image has at their path. Pure, like all here.
[[nodiscard]] nlohmann::json make_ignition(const NodeContent& content, IgnitionVersion version);

/// `base` with `content` in it: a file or a unit of the same path or name is replaced, SSH keys are added. Keeps the
/// version of the base. `file` is for messages. Error, "bad-ignition": the base has no version of Ignition 3 up to
/// `newest`, or lists that are none.
[[nodiscard]] Result<nlohmann::json, Diagnostics> merge_ignition(nlohmann::json base, std::string_view file,
                                                                 const NodeContent& content, IgnitionVersion newest);

/// A config that has a node fetch its real one.
struct IgnitionPointer {
  std::string source;     ///< https URL
  std::string authority;  ///< PEM: who vouches for that server
  std::vector<std::pair<std::string, pki::Secret>> headers;
};
/// `content` is what the node has beside what it fetches.
[[nodiscard]] nlohmann::json make_pointer(const IgnitionPointer& pointer, const NodeContent& content = {});

/// What a HyperShift node's user data is: `endpoint` is a host, with a port or without, that serves
/// https://<endpoint>/ignition; the token goes into a header, in base64 as HyperShift has it.
[[nodiscard]] nlohmann::json make_hypershift_pointer(std::string_view endpoint, const std::string& authority,
                                                     const pki::Secret& token);

/// What is in a config, for people.
struct IgnitionReport {
  std::string name;  ///< "master-0.ign"
  std::string version;
  std::size_t files = 0, units = 0;
  std::size_t bytes = 0;  ///< of the config as it is written
};
[[nodiscard]] IgnitionReport report_ignition(std::string name, const nlohmann::json& config, std::size_t bytes);

}  // namespace hcpnet::bootstrap
