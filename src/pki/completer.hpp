// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/pki/store.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace hcpnet::pki {

/// One pass over a plan, issuers first.
class Completer {
 public:
  Completer(const PkiPlan& plan, const StoredTexts& existing, const std::string& folder, const StoreOptions& options)
      : plan_(plan), existing_(existing), folder_(folder), options_(options) {}
  [[nodiscard]] Result<StoredPki, Diagnostics> run();

 private:
  /// What of a certificate and its key was there, parsed.
  struct Found {
    std::vector<Certificate> certificates;
    std::optional<PrivateKey> key;
  };

  void complete_authority(const PlannedCertificate& planned);
  void import_authority(const PlannedCertificate& planned, const ImportedAuthority& imported);
  void complete_leaf(const PlannedCertificate& planned);
  void complete_key_pair(const std::string& name);
  void complete_bundle(const PlannedBundle& bundle);
  /// Reports authorities of others that may sign, but not what is below them here: other usages, other names.
  void check_chains();

  /// Why an authority can't be used, reported; true when it can.
  bool check_authority(const PlannedCertificate& planned, const Certificate& certificate, const std::string& file);
  /// Why a leaf that was there is not right; empty when it is.
  [[nodiscard]] std::string leaf_fault(const PlannedCertificate& planned, const Found& found) const;
  [[nodiscard]] bool is_due(const PlannedCertificate& planned, const CertificateInfo& info) const;
  [[nodiscard]] int authorities_below(const std::string& name) const;
  /// The authorities between a leaf and its root, the nearest first.
  [[nodiscard]] std::vector<Certificate> chain_above(const PlannedCertificate& planned) const;
  [[nodiscard]] const StoredIdentity* issuer_of(const PlannedCertificate& planned) const;
  [[nodiscard]] bool is_missing_issuer(const PlannedCertificate& planned) const;

  [[nodiscard]] const Secret* text_of(const std::string& file) const;
  [[nodiscard]] std::string path_of(const std::string& file) const { return folder_ + '/' + file; }
  void report(std::string_view code, const std::string& file, std::string message);
  void issue_with(const PlannedCertificate& planned, const PrivateKey& key, StoreAction action, std::string reason);
  void store(const std::string& name, StoredIdentity identity, StoreAction action, std::string reason);

  const PkiPlan& plan_;
  const StoredTexts& existing_;
  std::string folder_;
  const StoreOptions& options_;
  StoredPki pki_;
  Diagnostics problems_;
};

}  // namespace hcpnet::pki
