// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Names that an API server takes.
namespace hcpnet::manifest {

inline constexpr std::size_t kMaxLabelBytes = 63;  ///< namespaces, Services, label values (RFC 1123 label)
inline constexpr std::size_t kMaxNameBytes = 253;  ///< most other objects (RFC 1123 subdomain)
inline constexpr std::size_t kNameHashDigits = 8;  ///< of a name that was cut

/// `base` and `suffix` in `limit` bytes. One that fits stays as it is; else base is cut, dots and hyphens at the cut
/// are dropped, and "-", the first eight digits of the SHA-256 of the whole base, and the suffix follow: two long names
/// stay two. Precondition: suffix is shorter than limit by ten bytes at least.
[[nodiscard]] std::string cut_name(std::string_view base, std::string_view suffix = {},
                                   std::size_t limit = kMaxLabelBytes);

/// A name for a Service or a port of it (RFC 1035 label): like cut_name(), with dots as hyphens, and "h-" in front of a
/// name that does not begin with a letter. Because another name could become the same, one that was changed so carries
/// the hash too. Precondition: base is lower-case letters, digits, hyphens and dots.
[[nodiscard]] std::string service_name(std::string_view base, std::string_view suffix = {});

/// The SHA-256 of `data` (FIPS 180-4) as 64 hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view data);

}  // namespace hcpnet::manifest
