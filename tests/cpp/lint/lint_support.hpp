// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/lint/lint.hpp>
#include <hcpnet/pki/certificate.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/base64.hpp"
#include "lint/lines.hpp"
#include "pki/pki_support.hpp"

namespace hcpnet::test {

/// Makes real files of an example: certificates of what is said about them, and what "<NAME in base64>" stands for.
class ExampleFiles {
 public:
  explicit ExampleFiles(pki::Time now) : now_(now) {}

  std::vector<lint::File> make(std::vector<lint::File> files) {
    for (lint::File& file : files) {
      if (file.text.starts_with("Subject:"))
        file.text = make_certificate(file);
      else
        fill(file.text);
      texts_[file.name] = file.text;
    }
    return files;
  }

 private:
  std::string make_certificate(const lint::File& file) {
    std::map<std::string, std::string> parts;
    std::string comments;
    for (const lint::Line& line : lint::lines_of(file.text)) {
      const std::size_t colon = line.text.find(": ");
      if (line.text.starts_with('#'))
        comments += line.text + '\n';
      else
        parts[line.text.substr(0, colon)] = line.text.substr(colon + 2);
    }
    const std::string name = file.name.substr(0, file.name.rfind('.'));
    const pki::Identity identity = parts["X509v3 Basic Constraints"].find("pathlen") != std::string::npos
                                       ? limited_authority(parts)
                                       : issued(parts);
    identities_.insert_or_assign(parts["Subject"], identity);
    texts_[name + ".key"] = identity.key.to_pem().reveal();
    return comments + identity.certificate.to_pem();
  }

  static std::vector<std::string> list_of(const std::string& text) {
    std::vector<std::string> entries;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(", ", at), text.size());
      entries.push_back(text.substr(at, end - at));
      at = end + 2;
    }
    return entries;
  }

  pki::Identity issued(std::map<std::string, std::string>& parts) {
    pki::CertificateProfile profile;
    for (const std::string& entry : list_of(parts["Subject"])) {
      if (entry.starts_with("CN = ")) profile.subject.common_name = entry.substr(5);
      if (entry.starts_with("O = ")) profile.subject.organizations.push_back(entry.substr(4));
    }
    for (const std::string& entry : list_of(parts["X509v3 Subject Alternative Name"])) {
      if (entry.starts_with("DNS:")) profile.dns_names.push_back(entry.substr(4));
      if (entry.starts_with("IP Address:")) profile.addresses.push_back(parse_ip_address(entry.substr(11)).value());
    }
    const std::string& usages = parts["X509v3 Extended Key Usage"];
    profile.server_auth = usages.find("Server") != std::string::npos;
    profile.client_auth = usages.find("Client") != std::string::npos;
    profile.is_authority = parts["X509v3 Basic Constraints"].starts_with("CA:TRUE");
    const auto issuer = identities_.find(parts["Issuer"]);
    const bool has_ended = parts["Not After"] == "yesterday";
    using std::chrono::hours;
    const pki::PrivateKey key = pki::PrivateKey::generate(pki::KeyAlgorithm::ecdsa_p256);
    return {pki::issue(profile, key, issuer == identities_.end() ? nullptr : &issuer->second,
                       {has_ended ? now_ - hours(48) : now_, has_ended ? hours(24) : hours(24 * 365)}),
            key};
  }

  /// pki::issue() makes none, and rightly so.
  static pki::Identity limited_authority(std::map<std::string, std::string>& parts) {
    const TemporaryFolder folder;
    const std::string name = parts["Subject"].substr(5), constraints = parts["X509v3 Basic Constraints"];
    std::string extension = constraints;
    extension.erase(std::remove(extension.begin(), extension.end(), ' '), extension.end());
    const Ran ran =
        run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=" + name +
            " -addext basicConstraints=critical," + extension + " -addext keyUsage=critical,keyCertSign -keyout " +
            (folder / "key") + " -out " + (folder / "crt"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    return {pki::parse_certificates(read_text(folder / "crt")).value().front(),
            pki::parse_private_key(read_text(folder / "key")).value()};
  }

  void fill(std::string& text) {
    constexpr std::string_view kEnd = " in base64>";
    for (std::size_t end = text.find(kEnd); end != std::string::npos; end = text.find(kEnd)) {
      const std::size_t begin = text.rfind('<', end);
      const std::string name = text.substr(begin + 1, end - begin - 1);
      EXPECT_TRUE(texts_.contains(name)) << name;
      text.replace(begin, end + kEnd.size() - begin, bootstrap::base64(texts_[name]));
    }
  }

  pki::Time now_;
  std::map<std::string, pki::Identity> identities_;  ///< by subject
  std::map<std::string, std::string> texts_;
};

inline std::set<std::string> codes_of(const lint::Report& report) {
  std::set<std::string> codes;
  for (const Diagnostic& finding : report.findings) codes.insert(finding.code);
  return codes;
}

/// What is found in one file.
inline lint::Report lint_text(const std::string& text, const std::string& name = "file") {
  return lint::check({{name, text}});
}

}  // namespace hcpnet::test
