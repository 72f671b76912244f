// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <hcpnet/pki/certificate.hpp>

int main() {
  using namespace hcpnet::pki;
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  CertificateProfile profile;
  profile.subject.common_name = "server";
  const Certificate certificate =
      issue(profile, key, nullptr, {std::chrono::system_clock::now(), std::chrono::hours(1)});
  std::puts(to_string(certificate.info().not_after).c_str());
  return certificate.has_key(key) ? 0 : 1;
}
