// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/pki/plan.hpp>
#include <hcpnet/result.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A folder of keys and certificates that follows a plan.
namespace hcpnet::pki {

/// How long before its end a certificate of that lifetime is to be renewed: as is asked, a third of it at most.
[[nodiscard]] constexpr std::chrono::seconds renewal_time(std::chrono::seconds renew_before,
                                                          std::chrono::seconds lifetime) noexcept {
  return std::max(std::min(renew_before, lifetime / 3), std::chrono::seconds(0));
}

/// An authority that exists already and is to be used instead of a new one.
struct ImportedAuthority {
  std::string certificate_file, key_file;  ///< for messages
  std::string certificate;                 ///< PEM; certificates of those above it may follow
  Secret key;                              ///< PEM
};

struct StoreOptions {
  Time now;
  KeyAlgorithm algorithm = KeyAlgorithm::ecdsa_p256;
  /// How long before its end a certificate is renewed; a third of its lifetime where that is shorter.
  std::chrono::seconds renew_before = std::chrono::hours(24 * 30);
  std::map<std::string, ImportedAuthority, std::less<>> imports = {};  ///< by the name in the plan
};

enum class StoreAction : std::uint8_t {
  kept,      ///< it was there, and right
  made,      ///< it was not there
  renewed,   ///< it was right but near its end; an authority keeps its key, so that what it signed stays good
  replaced,  ///< it was there and not right; `reason` says why
  imported,
};
[[nodiscard]] std::string_view to_string(StoreAction action) noexcept;
struct StoreChange {
  std::string name;
  StoreAction action = StoreAction::kept;
  std::string reason;
  Time not_after;  ///< of a key pair: the epoch
};

/// A certificate with its key, and the authorities between it and the root that its file holds too.
struct StoredIdentity {
  Identity identity;
  std::vector<Certificate> chain;
  [[nodiscard]] std::string chain_pem() const;
};

/// The whole of a PKI in memory.
struct StoredPki {
  std::map<std::string, StoredIdentity, std::less<>> identities;
  std::map<std::string, PrivateKey, std::less<>> key_pairs;
  std::map<std::string, std::string, std::less<>> bundles;  ///< PEM
  std::vector<StoreChange> changes;                         ///< in the order of the plan, key pairs last
  std::vector<OutputFile> files;                            ///< keys before their certificates
};

/// What files hold, by name.
using StoredTexts = std::map<std::string, Secret, std::less<>>;

/// Reads the files of a plan from `folder`; those that are not there are left out.
[[nodiscard]] Result<StoredTexts, Diagnostics> read_pki(const std::string& folder, const PkiPlan& plan);

/// Keeps of `existing` what is there and still right, and makes the rest. An authority is never replaced in silence:
/// one that is expired, unreadable, without its key or no authority is an error, because everything below it would go.
/// `folder` is for messages. Writes nothing. The same `existing` gives no change a second time.
[[nodiscard]] Result<StoredPki, Diagnostics> complete_pki(const PkiPlan& plan, const StoredTexts& existing,
                                                          const std::string& folder, const StoreOptions& options);

/// read_pki, complete_pki, write_files.
[[nodiscard]] Result<StoredPki, Diagnostics> ensure_pki(const std::string& folder, const PkiPlan& plan,
                                                        const StoreOptions& options);

enum class ExpiryState : std::uint8_t { valid, due, expired, not_yet_valid };
[[nodiscard]] std::string_view to_string(ExpiryState state) noexcept;
struct ExpiryEntry {
  std::string file;  ///< below the folder
  DistinguishedName subject;
  bool is_authority = false;
  Time not_before, not_after;
  ExpiryState state = ExpiryState::valid;
};
/// Every certificate in the *.crt and *.pem files of a folder, the one that ends first in front; a certificate that
/// several files hold is there for each. What can't be read goes to `problems`.
[[nodiscard]] std::vector<ExpiryEntry> report_expiry(const std::string& folder, Time now,
                                                     std::chrono::seconds renew_before, Diagnostics& problems);

}  // namespace hcpnet::pki
