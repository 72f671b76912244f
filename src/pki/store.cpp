// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/pki/store.hpp>

#include <array>
#include <utility>

#include "pki/completer.hpp"

namespace hcpnet::pki {

std::string_view to_string(StoreAction action) noexcept {
  static constexpr std::array<std::string_view, 5> kNames{"kept", "made", "renewed", "replaced", "imported"};
  return kNames.at(static_cast<std::size_t>(action));
}

std::string StoredIdentity::chain_pem() const {
  std::string pem = identity.certificate.to_pem();
  for (const Certificate& certificate : chain) pem += certificate.to_pem();
  return pem;
}

Result<StoredTexts, Diagnostics> read_pki(const std::string& folder, const PkiPlan& plan) {
  Diagnostics problems;
  StoredTexts texts;
  const auto read = [&](const std::string& file) {
    if (auto text = read_file(folder + '/' + file, PemLimits{}.max_bytes, problems))
      texts.emplace(file, std::move(*text));
  };
  for (const PlannedCertificate& planned : plan.certificates) {
    read(planned.name + ".crt");
    read(planned.name + ".key");
  }
  for (const std::string& name : plan.key_pairs) read(name + ".key");
  if (problems.has_errors()) return problems;
  return texts;
}

Result<StoredPki, Diagnostics> complete_pki(const PkiPlan& plan, const StoredTexts& existing, const std::string& folder,
                                            const StoreOptions& options) {
  return Completer(plan, existing, folder, options).run();
}

Result<StoredPki, Diagnostics> ensure_pki(const std::string& folder, const PkiPlan& plan, const StoreOptions& options) {
  const auto existing = read_pki(folder, plan);
  if (!existing) return existing.error();
  auto pki = complete_pki(plan, *existing, folder, options);
  if (!pki) return pki;
  const auto written = write_files(folder, pki->files);
  if (!written) return written.error();
  return pki;
}

}  // namespace hcpnet::pki
