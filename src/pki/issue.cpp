// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <hcpnet/pki/certificate.hpp>
#include <utility>

#include "pki/openssl.hpp"

namespace hcpnet::pki {
namespace {

using OwnedName = Owned<X509_NAME, X509_NAME_free>;

void add_entry(X509_NAME* name, int kind, const std::string& text) {
  // The type is not one of OpenSSL's MBSTRING_ ones, with which it would refuse more than 64 characters (RFC 5280
  // appendix A.1): the identity of the node bootstrapper has 73, and Kubernetes takes it.
  const Owned<X509_NAME_ENTRY, X509_NAME_ENTRY_free> entry(require(X509_NAME_ENTRY_create_by_NID(
      nullptr, kind, V_ASN1_UTF8STRING, reinterpret_cast<const unsigned char*>(text.data()),
      static_cast<int>(text.size()))));
  require(X509_NAME_add_entry(name, entry.get(), -1, 0) == 1);
}

OwnedName make_name(const DistinguishedName& subject) {
  OwnedName name(require(X509_NAME_new()));
  for (const std::string& organization : subject.organizations)
    add_entry(name.get(), NID_organizationName, organization);
  if (!subject.common_name.empty()) add_entry(name.get(), NID_commonName, subject.common_name);
  return name;
}

/// Positive, 20 octets at most, of which 127 bits are random (RFC 5280 section 4.1.2.2).
void set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  require(RAND_bytes(bytes.data(), bytes.size()) == 1);
  bytes[0] &= 0x7F;
  bytes[15] |= 1;
  const Owned<BIGNUM, BN_free> number(require(BN_bin2bn(bytes.data(), bytes.size(), nullptr)));
  require(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void set_validity(X509* certificate, const Identity* authority, const Validity& validity) {
  using std::chrono::system_clock;
  Time begin = validity.now - kClockSkew;
  Time end = validity.now + validity.lifetime;
  if (authority != nullptr) {  // a certificate that outlives its authority only postpones the surprise
    begin = std::max(begin, authority->certificate.info().not_before);
    end = std::min(end, authority->certificate.info().not_after);
  }
  require(ASN1_TIME_set(X509_getm_notBefore(certificate), system_clock::to_time_t(begin)));
  require(ASN1_TIME_set(X509_getm_notAfter(certificate), system_clock::to_time_t(end)));
}

void add_extension(X509* certificate, int kind, void* value, bool critical) {
  require(X509_add1_ext_i2d(certificate, kind, value, critical ? 1 : 0, X509V3_ADD_DEFAULT) == 1);
}

void add_constraints(X509* certificate, const CertificateProfile& profile) {
  const Owned<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free> constraints(require(BASIC_CONSTRAINTS_new()));
  constraints->ca = profile.is_authority ? 0xFF : 0;
  add_extension(certificate, NID_basic_constraints, constraints.get(), true);
}

/// RFC 5280 section 4.2.1.3; key encipherment is what RSA key exchange of TLS 1.2 asks for.
void add_key_usage(X509* certificate, const CertificateProfile& profile, KeyAlgorithm algorithm) {
  const Owned<ASN1_BIT_STRING, ASN1_BIT_STRING_free> bits(require(ASN1_BIT_STRING_new()));
  constexpr int kDigitalSignature = 0, kKeyEncipherment = 2, kKeyCertSign = 5, kCrlSign = 6;
  const auto set = [&](int bit) { require(ASN1_BIT_STRING_set_bit(bits.get(), bit, 1) == 1); };
  set(kDigitalSignature);
  if (profile.is_authority) {
    set(kKeyCertSign);
    set(kCrlSign);
  } else if (algorithm <= KeyAlgorithm::rsa_4096) {
    set(kKeyEncipherment);
  }
  add_extension(certificate, NID_key_usage, bits.get(), true);
}

void add_extended_usage(X509* certificate, const CertificateProfile& profile) {
  if (!profile.server_auth && !profile.client_auth) return;
  const Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free> usages(require(sk_ASN1_OBJECT_new_null()));
  if (profile.server_auth) require(sk_ASN1_OBJECT_push(usages.get(), OBJ_nid2obj(NID_server_auth)) > 0);
  if (profile.client_auth) require(sk_ASN1_OBJECT_push(usages.get(), OBJ_nid2obj(NID_client_auth)) > 0);
  add_extension(certificate, NID_ext_key_usage, usages.get(), false);
}

void add_alternative_name(GENERAL_NAMES* names, int kind, ASN1_STRING* value, const void* bytes, std::size_t size) {
  Owned<ASN1_STRING, ASN1_STRING_free> text(require(value));
  require(ASN1_STRING_set(text.get(), bytes, static_cast<int>(size)) == 1);
  Owned<GENERAL_NAME, GENERAL_NAME_free> name(require(GENERAL_NAME_new()));
  GENERAL_NAME_set0_value(name.get(), kind, text.release());
  require(sk_GENERAL_NAME_push(names, name.get()) > 0);
  static_cast<void>(name.release());
}

void add_alternative_names(X509* certificate, const CertificateProfile& profile) {
  if (profile.dns_names.empty() && profile.addresses.empty()) return;
  const Owned<GENERAL_NAMES, GENERAL_NAMES_free> names(require(GENERAL_NAMES_new()));
  for (const std::string& name : profile.dns_names)
    add_alternative_name(names.get(), GEN_DNS, ASN1_IA5STRING_new(), name.data(), name.size());
  for (const IpAddress& address : profile.addresses) {
    const auto v4 = address.is_v4() ? address.v4().bytes() : std::array<std::uint8_t, 4>{};
    const void* bytes = address.is_v4() ? v4.data() : address.v6().bytes().data();
    add_alternative_name(names.get(), GEN_IPADD, ASN1_OCTET_STRING_new(), bytes, address.is_v4() ? 4 : 16);
  }
  add_extension(certificate, NID_subject_alt_name, names.get(), false);
}

/// Key identifiers by which chains are found: RFC 5280 sections 4.2.1.1 and 4.2.1.2.
void add_key_identifiers(X509* certificate, X509* issuer) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] :
       {std::pair{NID_subject_key_identifier, "hash"}, {NID_authority_key_identifier, "keyid"}}) {
    const Owned<X509_EXTENSION, X509_EXTENSION_free> extension(
        require(X509V3_EXT_nconf_nid(nullptr, &context, kind, value)));
    require(X509_add_ext(certificate, extension.get(), -1) == 1);
  }
}

const EVP_MD* digest_for(KeyAlgorithm algorithm) {
  if (algorithm == KeyAlgorithm::ecdsa_p384) return EVP_sha384();
  return algorithm == KeyAlgorithm::ecdsa_p521 ? EVP_sha512() : EVP_sha256();
}

}  // namespace

Certificate issue(const CertificateProfile& profile, const PrivateKey& key, const Identity* authority,
                  const Validity& validity) {
  const OwnedX509 certificate(require(X509_new()));
  X509* const issuer = authority != nullptr ? authority->certificate.handle() : certificate.get();
  const PrivateKey& signer = authority != nullptr ? authority->key : key;
  require(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  set_serial(certificate.get());
  set_validity(certificate.get(), authority, validity);
  require(X509_set_subject_name(certificate.get(), make_name(profile.subject).get()) == 1);
  require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer)) == 1);
  require(X509_set_pubkey(certificate.get(), key.handle()) == 1);
  add_constraints(certificate.get(), profile);
  add_key_usage(certificate.get(), profile, key.algorithm());
  add_extended_usage(certificate.get(), profile);
  add_alternative_names(certificate.get(), profile);
  add_key_identifiers(certificate.get(), issuer);
  require(X509_sign(certificate.get(), signer.handle(), digest_for(signer.algorithm())) > 0);

  // Read back from its text, so that what is made and what is read can't differ.
  const OwnedBio bio(require(BIO_new(BIO_s_mem())));
  require(PEM_write_bio_X509(bio.get(), certificate.get()) == 1);
  return parse_certificates(text_of(bio.get())).value().front();
}

}  // namespace hcpnet::pki
