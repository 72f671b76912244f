// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/pki/certificate.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "pki/openssl.hpp"

namespace hcpnet::pki {
namespace {

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

DistinguishedName read_name(const X509_NAME* name, bool& is_plain) {
  DistinguishedName read;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (kind == NID_commonName && read.common_name.empty())
      read.common_name = text_of(X509_NAME_ENTRY_get_data(entry));
    else if (kind == NID_organizationName)
      read.organizations.push_back(text_of(X509_NAME_ENTRY_get_data(entry)));
    else
      is_plain = false;
  }
  return read;
}

std::optional<IpAddress> read_address(const ASN1_OCTET_STRING* string) {
  const unsigned char* bytes = ASN1_STRING_get0_data(string);
  if (ASN1_STRING_length(string) == 4) return IpAddress(Ipv4(bytes[0], bytes[1], bytes[2], bytes[3]));
  std::array<std::uint8_t, 16> v6{};
  if (ASN1_STRING_length(string) != static_cast<int>(v6.size())) return std::nullopt;
  std::copy_n(bytes, v6.size(), v6.begin());
  return IpAddress(Ipv6(v6));
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// What the extension holds, decoded; an extension that is there twice, or broken, is no extension to rely on.
template <class T, auto free>
Owned<T, free> extension(const X509* certificate, int kind, bool& is_plain) {
  int critical = -1;
  Owned<T, free> value(static_cast<T*>(X509_get_ext_d2i(certificate, kind, &critical, nullptr)));
  if (!value && critical != -1) is_plain = false;
  return value;
}

bool read_alternative_names(const X509* certificate, CertificateProfile& profile) {
  bool is_plain = true;
  const auto names = extension<GENERAL_NAMES, GENERAL_NAMES_free>(certificate, NID_subject_alt_name, is_plain);
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::optional<IpAddress> address;
    if (name->type == GEN_DNS)
      profile.dns_names.push_back(text_of(name->d.dNSName));
    else if (name->type == GEN_IPADD && (address = read_address(name->d.iPAddress)))
      profile.addresses.push_back(*address);
    else
      is_plain = false;
  }
  sort_unique(profile.dns_names);
  sort_unique(profile.addresses);
  return is_plain;
}

bool read_usages(const X509* certificate, CertificateProfile& profile) {
  bool is_plain = true;
  const auto usages = extension<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free>(certificate, NID_ext_key_usage, is_plain);
  for (int i = 0; i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    const int kind = OBJ_obj2nid(sk_ASN1_OBJECT_value(usages.get(), i));
    if (kind == NID_server_auth)
      profile.server_auth = true;
    else if (kind == NID_client_auth)
      profile.client_auth = true;
    else
      is_plain = false;
  }
  return is_plain;
}

/// RFC 5280 section 4.2.1.9.
bool read_constraints(const X509* certificate, CertificateInfo& info) {
  bool is_plain = true;
  const auto constraints =
      extension<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free>(certificate, NID_basic_constraints, is_plain);
  if (!constraints) return is_plain;
  info.profile.is_authority = constraints->ca != 0;
  if (constraints->pathlen != nullptr) info.path_length = static_cast<int>(ASN1_INTEGER_get(constraints->pathlen));
  return is_plain;
}

/// Time counts nanoseconds and ends in 2262; "no well-defined expiration date" is in 9999 (RFC 5280 section 4.1.2.5).
std::optional<Time> read_time(const ASN1_TIME* time) {
  using std::chrono::seconds;
  constexpr seconds kLatest = std::chrono::floor<seconds>(Time::max().time_since_epoch());
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return Time(std::clamp(seconds(timegm(&parts)), seconds(0), kLatest));
}

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15]};
  return text;
}

}  // namespace

class CertificateReader {
 public:
  static std::optional<Certificate> read(OwnedX509 certificate) {
    CertificateInfo info;
    info.profile.subject = read_name(X509_get_subject_name(certificate.get()), info.is_plain);
    bool ignored = true;
    info.issuer = read_name(X509_get_issuer_name(certificate.get()), ignored);
    info.is_plain &= read_alternative_names(certificate.get(), info.profile);
    info.is_plain &= read_usages(certificate.get(), info.profile);
    info.is_plain &= read_constraints(certificate.get(), info);
    // Bits that are absent restrict nothing: RFC 5280 section 4.2.1.3.
    info.may_sign = info.profile.is_authority && (X509_get_key_usage(certificate.get()) & KU_KEY_CERT_SIGN) != 0;
    if (const EVP_PKEY* key = X509_get0_pubkey(certificate.get())) info.key = algorithm_of(key);
    const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate.get());
    info.serial = hexadecimal(ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial)));
    const auto begin = read_time(X509_get0_notBefore(certificate.get()));
    const auto end = read_time(X509_get0_notAfter(certificate.get()));
    ERR_clear_error();
    if (!begin || !end) return std::nullopt;
    info.not_before = *begin;
    info.not_after = *end;
    return Certificate({certificate.release(), [](X509* c) { X509_free(c); }},
                       std::make_shared<const CertificateInfo>(std::move(info)));
  }
};

std::string Certificate::to_pem() const {
  const OwnedBio bio(require(BIO_new(BIO_s_mem())));
  require(PEM_write_bio_X509(bio.get(), certificate_.get()) == 1);
  return pki::text_of(bio.get());
}

std::string Certificate::fingerprint() const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(X509_digest(certificate_.get(), EVP_sha256(), digest.data(), &size) == 1);
  return hexadecimal(digest.data(), size);
}

bool Certificate::has_key(const PrivateKey& key) const noexcept {
  const EVP_PKEY* own = X509_get0_pubkey(certificate_.get());
  const bool same = own != nullptr && EVP_PKEY_eq(own, key.handle()) == 1;
  ERR_clear_error();
  return same;
}

bool Certificate::is_issued_by(const Certificate& authority) const noexcept {
  // X509_check_issued compares names, key identifiers and usages; the signature is another matter.
  EVP_PKEY* key = X509_get0_pubkey(authority.handle());
  const bool is_issuer = key != nullptr && authority.info().may_sign &&
                         X509_check_issued(authority.handle(), certificate_.get()) == X509_V_OK &&
                         X509_verify(certificate_.get(), key) == 1;
  ERR_clear_error();
  return is_issuer;
}

Result<std::vector<Certificate>> parse_certificates(std::string_view pem, const PemLimits& limits) {
  if (pem.size() > limits.max_bytes) return Errc::too_large;
  const OwnedBio bio = reader(pem);
  std::vector<Certificate> certificates;
  for (PemBlock block;;) {
    const PemStep step = next_block(bio.get(), block);
    if (step == PemStep::malformed) return Errc::malformed;
    if (step == PemStep::end) break;
    if (block.name != "CERTIFICATE") continue;
    if (certificates.size() == limits.max_certificates) return Errc::too_many;
    const unsigned char* position = block.bytes.get();
    OwnedX509 certificate(d2i_X509(nullptr, &position, block.size()));
    const bool is_whole = certificate && position == block.bytes.get() + block.size();
    auto read = is_whole ? CertificateReader::read(std::move(certificate)) : std::nullopt;
    ERR_clear_error();
    if (!read) return Errc::malformed;
    certificates.push_back(std::move(*read));
  }
  if (certificates.empty()) return Errc::not_pem;
  return certificates;
}

std::string to_string(Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace hcpnet::pki
