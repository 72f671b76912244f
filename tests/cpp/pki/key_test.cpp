// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <hcpnet/pki/certificate.hpp>
#include <type_traits>

#include "pki/pki_support.hpp"

namespace hcpnet::pki {
namespace {

using test::run;

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Printable<Secret>, "a secret must have no way to a stream");
static_assert(!std::is_convertible_v<Secret, std::string>);

TEST(PrivateKey, EveryAlgorithmIsMadeAndReadByOpenssl) {
  const test::TemporaryFolder folder;
  const std::array<std::string, 6> expected{"2048 bit", "3072 bit", "4096 bit", "prime256v1", "secp384r1", "secp521r1"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto algorithm = static_cast<KeyAlgorithm>(i);
    SCOPED_TRACE(to_string(algorithm));
    const PrivateKey key = PrivateKey::generate(algorithm);
    test::write_file(folder / "key.pem", key.to_pem().reveal());
    const auto ran = run("openssl pkey -check -noout -text -in " + (folder / "key.pem"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_NE(ran.output.find(expected[i]), std::string::npos) << ran.output;
    const auto read = parse_private_key(key.to_pem().reveal());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->algorithm(), algorithm);
    EXPECT_EQ(read->to_pem(), key.to_pem());
    EXPECT_EQ(parse_key_algorithm(to_string(algorithm)), algorithm);
  }
}

TEST(PrivateKey, PublicKeyIsTheOneThatOpensslDerives) {
  const test::TemporaryFolder folder;
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  test::write_file(folder / "key.pem", key.to_pem().reveal());
  EXPECT_EQ(run("openssl pkey -pubout -in " + (folder / "key.pem")).output, key.public_pem());
}

std::string made_by(const std::string& command) {
  const auto ran = run(command + " 2>/dev/null");
  EXPECT_EQ(ran.status, 0) << command;
  return ran.output;
}

TEST(ParsePrivateKey, TakesTheOldFormsWithWhatOpensslPutsAroundThem) {
  EXPECT_EQ(parse_private_key(made_by("openssl genrsa -traditional 2048")).value().algorithm(), KeyAlgorithm::rsa_2048);
  // "EC PARAMETERS" stands before the key
  EXPECT_EQ(parse_private_key(made_by("openssl ecparam -name secp384r1 -genkey")).value().algorithm(),
            KeyAlgorithm::ecdsa_p384);
}

TEST(ParsePrivateKey, RefusesWhatItIsNotFor) {
  const std::string good = PrivateKey::generate(KeyAlgorithm::ecdsa_p256).to_pem().reveal();
  EXPECT_EQ(parse_private_key("").error(), Errc::not_pem);
  EXPECT_EQ(parse_private_key({}).error(), Errc::not_pem);
  EXPECT_EQ(parse_private_key("no PEM\n").error(), Errc::not_pem);
  EXPECT_EQ(parse_private_key(good + good).error(), Errc::malformed) << "which of the two?";
  EXPECT_EQ(parse_private_key(good, {.max_bytes = good.size() - 1}).error(), Errc::too_large);
  EXPECT_EQ(parse_private_key(made_by("openssl genrsa 1024")).error(), Errc::unsupported_key);
  EXPECT_EQ(parse_private_key(made_by("openssl genpkey -algorithm ed25519")).error(), Errc::unsupported_key);
  EXPECT_EQ(parse_private_key(made_by("openssl ecparam -name secp256k1 -genkey -noout")).error(),
            Errc::unsupported_key);
  const test::TemporaryFolder folder;
  test::write_file(folder / "key.pem", good);
  for (const char* form : {"", " -traditional"})
    EXPECT_EQ(
        parse_private_key(made_by("openssl pkey -aes256 -passout pass:x -in " + (folder / "key.pem") + form)).error(),
        Errc::encrypted)
        << form;
}

TEST(ParsePrivateKey, EveryPrefixAndEveryChangedByteIsHarmless) {
  const std::string good = PrivateKey::generate(KeyAlgorithm::ecdsa_p256).to_pem().reveal();
  const std::size_t end = good.find("\n-----END");
  for (std::size_t n = 0; n < end + 10; ++n) EXPECT_FALSE(parse_private_key(std::string_view(good).substr(0, n))) << n;
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::string changed = good;
    for (const int bit : {1, 0x80}) {
      changed[n] = static_cast<char>(good[n] ^ bit);
      if (const auto key = parse_private_key(changed)) static_cast<void>(key->to_pem());
    }
  }
}

TEST(ParseCertificates, EveryPrefixAndEveryChangedByteIsHarmless) {
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  CertificateProfile profile;
  profile.subject = {"server", {"one", "two"}};
  profile.dns_names = {"a.example.com", "b.example.com"};
  profile.addresses = {Ipv4(192, 0, 2, 1)};
  profile.server_auth = true;
  const Certificate certificate = issue(profile, key, nullptr, {test::kNow, std::chrono::hours(1)});
  const std::string good = certificate.to_pem();
  for (std::size_t n = 0; n < good.find("\n-----END") + 10; ++n)
    EXPECT_FALSE(parse_certificates(std::string_view(good).substr(0, n))) << n;
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::string changed = good;
    changed[n] = static_cast<char>(good[n] ^ 1);
    const auto read = parse_certificates(changed);
    if (read && read->front().fingerprint() != certificate.fingerprint()) {
      EXPECT_FALSE(read->front().is_self_signed()) << n;
    }
  }
}

TEST(ParseCertificates, HoldsItsLimits) {
  const std::string one =
      issue({}, PrivateKey::generate(KeyAlgorithm::ecdsa_p256), nullptr, {test::kNow, std::chrono::hours(1)}).to_pem();
  EXPECT_EQ(parse_certificates(one + one, {.max_certificates = 2}).value().size(), 2u);
  EXPECT_EQ(parse_certificates(one + one + one, {.max_certificates = 2}).error(), Errc::too_many);
  EXPECT_EQ(parse_certificates(one, {.max_bytes = one.size() - 1}).error(), Errc::too_large);
  EXPECT_EQ(parse_certificates({}).error(), Errc::not_pem);
  EXPECT_EQ(parse_certificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").error(),
            Errc::malformed);
}

TEST(ParseCertificates, AnEndThatNoClockReachesIsTheLatestThatThereIs) {
  // openssl ca -selfsign -startdate 19500101000000Z -enddate 99991231235959Z
  const std::string corp = R"(-----BEGIN CERTIFICATE-----
MIIBCDCBrgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARjb3JwMCAXDTUwMDEw
MTAwMDAwMFoYDzk5OTkxMjMxMjM1OTU5WjAPMQ0wCwYDVQQDDARjb3JwMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEw9fcZ2HJxSOikUWwXb7XrfeyZfbzWYqkbIJf
akB2u5rA6WMFNSBaj//60RMYREwYkMunwDgCxoOsKJxl+azI3zAKBggqhkjOPQQD
AgNJADBGAiEA5tA/kgalNWeTXc4ew251u2YI1PrMaOhfSquWEwlmM0kCIQC+5+I7
P6zAw9LGs6v6y4UwMoJRZdBYMXbBuALy+THHOA==
-----END CERTIFICATE-----
)";
  const auto certificates = parse_certificates(corp);
  ASSERT_TRUE(certificates);
  EXPECT_EQ(to_string(certificates->front().info().not_before), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_string(certificates->front().info().not_after), "2262-04-11T23:47:16Z");
  const test::TemporaryFolder folder;
  test::write_file(folder / "corp.crt", corp);
  Diagnostics problems;
  EXPECT_EQ(report_expiry(folder.path(), test::kNow, std::chrono::hours(24), problems).at(0).state, ExpiryState::valid);
}

TEST(Issue, IsReadBackAsItWasAskedFor) {
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  CertificateProfile profile;
  profile.subject = {std::string(73, 'n'), {"b", "a"}};  // beyond the 64 characters of RFC 5280's upper bound
  profile.dns_names = {"*.apps.example.com", "localhost"};
  profile.addresses = {Ipv4(127, 0, 0, 1), parse_ip_address("::1").value()};
  profile.server_auth = profile.client_auth = true;
  const Certificate certificate = issue(profile, key, nullptr, {test::kNow, std::chrono::hours(2)});
  const CertificateInfo& info = certificate.info();
  EXPECT_EQ(info.profile, profile);
  EXPECT_TRUE(info.is_plain);
  EXPECT_EQ(to_string(info.not_before), "2027-01-15T07:55:00Z");
  EXPECT_EQ(to_string(info.not_after), "2027-01-15T10:00:00Z");
  EXPECT_EQ(info.key, KeyAlgorithm::ecdsa_p256);
  EXPECT_TRUE(certificate.has_key(key));
  EXPECT_FALSE(certificate.has_key(PrivateKey::generate(KeyAlgorithm::ecdsa_p256)));
  EXPECT_FALSE(certificate.is_self_signed()) << "it may not sign, so not itself either";
}

TEST(Issue, NoCertificateOutlivesItsAuthorityAndEachHasItsOwnSerial) {
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  CertificateProfile authority;
  authority.subject.common_name = "ca";
  authority.is_authority = true;
  const Identity ca{issue(authority, key, nullptr, {test::kNow, std::chrono::hours(1)}), key};
  EXPECT_TRUE(ca.certificate.is_self_signed());
  const Certificate a = issue({}, key, &ca, {test::kNow, std::chrono::hours(5)});
  const Certificate b = issue({}, key, &ca, {test::kNow, std::chrono::hours(5)});
  EXPECT_EQ(a.info().not_after, ca.certificate.info().not_after);
  EXPECT_NE(a.info().serial, b.info().serial);
  EXPECT_TRUE(a.is_issued_by(ca.certificate));
}

}  // namespace
}  // namespace hcpnet::pki
