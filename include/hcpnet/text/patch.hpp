// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/assert/source_location.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <hcpnet/result.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Patches of JSON documents. docs/patch.md compares the modes.
namespace hcpnet::text {

enum class PatchErrc : std::uint8_t {
  malformed,    ///< the patch itself breaks its specification
  missing,      ///< nothing is where the operation points
  bad_index,    ///< no index of that list
  test_failed,  ///< a test found another value
  not_allowed,  ///< the whole document removed, a value moved into itself
  too_large,    ///< a limit of PatchLimits
};

/// Why a patch was not applied.
struct PatchError {
  PatchErrc code = PatchErrc::malformed;
  std::size_t patch = 0;                 ///< from 0: which of several patches
  std::optional<std::size_t> operation;  ///< from 0; none when it is not about one operation
  std::string op;                        ///< "replace"; empty when the operation has none
  std::string pointer;                   ///< the JSON pointer that failed: of `path` or `from`, as written
  std::string reason;                    ///< one sentence for people

  /// "operation 2 (remove /a/b): REASON"
  [[nodiscard]] std::string to_string() const;
};

/// Thrown by `.value()` of a Result<T, PatchError>.
class PatchFailure : public std::runtime_error {
 public:
  explicit PatchFailure(PatchError error) : std::runtime_error(error.to_string()), error_(std::move(error)) {}
  [[nodiscard]] const PatchError& error() const noexcept { return error_; }

 private:
  PatchError error_;
};
[[noreturn]] void throw_exception_from_error(const PatchError& error, const boost::source_location& where);

struct PatchLimits {
  std::size_t max_operations = 1'000;
  std::size_t max_bytes =
      16 * 1024 * 1024;         ///< of the document and of all that is added, copied or moved, as held in memory
  std::size_t max_depth = 128;  ///< of the document, and of what is added or copied into it
};

/// Applies a JSON Patch: every operation, or none.
///
/// `patch` is the list of operations. Numbers are equal when their values are. Errors: any PatchErrc. Throws only
/// std::bad_alloc. Thread-safe. Specification: RFC 6902, RFC 6901.
[[nodiscard]] Result<nlohmann::json, PatchError> apply_json_patch(nlohmann::json document, const nlohmann::json& patch,
                                                                  const PatchLimits& limits = {});

/// Applies a merge patch: members that are null are removed, objects are merged, anything else replaces what was there.
///
/// Errors: too_large. Throws only std::bad_alloc. Thread-safe. Specification: RFC 7396.
[[nodiscard]] Result<nlohmann::json, PatchError> apply_merge_patch(nlohmann::json document, const nlohmann::json& patch,
                                                                   const PatchLimits& limits = {});

/// A release of OpenShift, such as 4.19.
struct Release {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  friend auto operator<=>(const Release&, const Release&) noexcept = default;
};
/// Reads "4.19". nullopt for anything else.
[[nodiscard]] std::optional<Release> parse_release(std::string_view text) noexcept;

/// What HyperShift makes of a VM template.
struct HypershiftPatched {
  nlohmann::json patched;  ///< the template after the operations, as JSON
  nlohmann::json object;   ///< the VM template that HyperShift goes on with: `patched` read over the old template
  std::vector<std::string> kept;  ///< JSON pointers of what the patches removed or set to null and `object` still has
};

/// Applies the annotations hypershift.openshift.io/kubevirt-vm-jsonpatch as HyperShift of that `release` does.
///
/// `vm_template` is {metadata, spec} of a virtual machine; `patches` are those of the HostedCluster and of the
/// NodePool, in this order. Differs from apply_json_patch(): `add` makes missing parents, an index may count from the
/// end, numbers are equal when they are written alike, a test for null passes where nothing is, every operation but
/// `remove` needs a value; and what HyperShift's decoder keeps of the old template stays. Without `release` it is the
/// newest. Errors: any PatchErrc. Throws only std::bad_alloc. Thread-safe.
[[nodiscard]] Result<HypershiftPatched, PatchError> apply_hypershift_patches(const nlohmann::json& vm_template,
                                                                             std::span<const nlohmann::json> patches,
                                                                             std::optional<Release> release = {},
                                                                             const PatchLimits& limits = {});

}  // namespace hcpnet::text
