// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <hcpnet/pki/store.hpp>
#include <tuple>
#include <utility>

namespace hcpnet::pki {
namespace {

namespace fs = std::filesystem;

void report(Diagnostics& problems, std::string_view code, const std::string& file, std::string message) {
  Diagnostic d;
  d.file = file;
  d.code = std::string(code);
  d.message = std::move(message);
  problems.add(std::move(d));
}

std::vector<std::string> certificate_files(const std::string& folder, Diagnostics& problems) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".crt" || path.extension() == ".pem") files.push_back(path.filename().string());
  }
  if (error) report(problems, "unreadable-file", folder, "can't be read: " + error.message());
  std::ranges::sort(files);
  return files;
}

ExpiryState state_of(const CertificateInfo& info, Time now, std::chrono::seconds renew_before) {
  if (now > info.not_after) return ExpiryState::expired;
  if (now < info.not_before) return ExpiryState::not_yet_valid;
  // In seconds, of which there are enough for whatever somebody asks.
  const std::chrono::seconds lifetime = std::chrono::floor<std::chrono::seconds>(info.not_after - info.not_before);
  return now >= info.not_after - renewal_time(renew_before, lifetime) ? ExpiryState::due : ExpiryState::valid;
}

}  // namespace

std::string_view to_string(ExpiryState state) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"valid", "due", "expired", "not yet valid"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::vector<ExpiryEntry> report_expiry(const std::string& folder, Time now, std::chrono::seconds renew_before,
                                       Diagnostics& problems) {
  std::vector<ExpiryEntry> entries;
  for (const std::string& file : certificate_files(folder, problems)) {
    const std::string path = folder + '/' + file;
    const auto text = read_file(path, PemLimits{}.max_bytes, problems);
    if (!text) continue;
    const auto certificates = parse_certificates(text->reveal());
    if (!certificates) {
      report(problems, "pki-bad-certificate", path, certificates.error().message());
      continue;
    }
    for (const Certificate& certificate : *certificates) {
      const CertificateInfo& info = certificate.info();
      entries.push_back({file, info.profile.subject, info.profile.is_authority, info.not_before, info.not_after,
                         state_of(info, now, renew_before)});
    }
  }
  std::ranges::stable_sort(entries, {}, &ExpiryEntry::not_after);
  return entries;
}

}  // namespace hcpnet::pki
