// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/net.hpp>
#include <hcpnet/pki/key.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct x509_st;  // OpenSSL's X509

namespace hcpnet::pki {

using Time = std::chrono::system_clock::time_point;

/// Kubernetes reads a client's user name from the common name and its groups from the organizations.
struct DistinguishedName {
  std::string common_name;
  std::vector<std::string> organizations;
  friend bool operator==(const DistinguishedName&, const DistinguishedName&) = default;
};

/// What a certificate is for, which is also what decides whether an existing one is still right.
struct CertificateProfile {
  DistinguishedName subject;
  std::vector<std::string> dns_names;  ///< sorted, unique
  std::vector<IpAddress> addresses;    ///< sorted, unique
  bool is_authority = false;
  bool server_auth = false;  ///< extended key usages, RFC 5280 section 4.2.1.12
  bool client_auth = false;
  friend bool operator==(const CertificateProfile&, const CertificateProfile&) = default;
};

/// A certificate as it was read.
struct CertificateInfo {
  CertificateProfile profile;
  DistinguishedName issuer;
  bool is_plain = true;   ///< false when it holds subject attributes, names or usages that a profile has no word for
  bool may_sign = false;  ///< an authority whose key usage lets it sign certificates
  std::optional<int> path_length;   ///< how many authorities may stand between this one and a leaf
  std::optional<KeyAlgorithm> key;  ///< nullopt: another kind of key
  std::string serial;               ///< hexadecimal
  Time not_before, not_after;       ///< before 1970 or after 2262-04-11: the one or the other
};

class Certificate {
 public:
  [[nodiscard]] const CertificateInfo& info() const noexcept { return *info_; }
  [[nodiscard]] std::string to_pem() const;
  /// SHA-256 of the DER form in hexadecimal: tells certificates apart.
  [[nodiscard]] std::string fingerprint() const;
  [[nodiscard]] bool has_key(const PrivateKey& key) const noexcept;
  /// Names, key identifiers, the right to sign and the signature agree. Validity is not looked at.
  [[nodiscard]] bool is_issued_by(const Certificate& authority) const noexcept;
  [[nodiscard]] bool is_self_signed() const noexcept { return is_issued_by(*this); }
  [[nodiscard]] x509_st* handle() const noexcept { return certificate_.get(); }

 private:
  friend class CertificateReader;
  explicit Certificate(std::shared_ptr<x509_st> certificate, std::shared_ptr<const CertificateInfo> info)
      : certificate_(std::move(certificate)), info_(std::move(info)) {}
  std::shared_ptr<x509_st> certificate_;
  std::shared_ptr<const CertificateInfo> info_;
};

/// Every "CERTIFICATE" block, in order, at least one; text and blocks of other kinds around them are passed over.
/// Errors: any Errc but encrypted and unsupported_key. Thread-safe. Specification: RFC 5280, RFC 7468.
[[nodiscard]] Result<std::vector<Certificate>> parse_certificates(std::string_view pem, const PemLimits& limits = {});

/// A certificate and its key: what can sign, or identify itself.
struct Identity {
  Certificate certificate;
  PrivateKey key;
};

/// From when until when. Certificates begin `kClockSkew` early, because clocks of machines that boot are late.
struct Validity {
  Time now;
  std::chrono::seconds lifetime;
};
inline constexpr std::chrono::minutes kClockSkew{5};

/// A certificate for `key`, signed by `authority`, or by `key` itself where there is none. It ends no later than the
/// authority does. Serial numbers are random. Throws boost::system::system_error (Errc::failed). Thread-safe.
[[nodiscard]] Certificate issue(const CertificateProfile& profile, const PrivateKey& key, const Identity* authority,
                                const Validity& validity);

/// "2027-11-28T09:30:00Z"
[[nodiscard]] std::string to_string(Time time);

}  // namespace hcpnet::pki
