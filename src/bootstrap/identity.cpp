// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/identity.hpp"

#include <crypt.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "pki/openssl.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kMaxInfraIdBytes = 27;  // the longest names that are made of it have 63
constexpr int kBcryptRounds = 10;             // as a power of two

std::uint8_t random_byte() {
  std::uint8_t byte = 0;
  pki::require(RAND_bytes(&byte, 1) == 1);
  return byte;
}

/// Each character as likely as any other: bytes beyond the last whole multiple are thrown away.
char random_of(std::string_view alphabet) {
  const std::size_t end = 256 / alphabet.size() * alphabet.size();
  std::size_t byte = random_byte();
  while (byte >= end) byte = random_byte();
  return alphabet[byte % alphabet.size()];
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_hyphen ? text[i] != '-' : kHexDigits.find(text[i]) == std::string_view::npos) return false;
  }
  return true;
}

std::string infra_prefix(std::string_view cluster_name) {
  constexpr std::size_t kSuffixBytes = 6;
  std::string prefix(cluster_name.substr(0, kMaxInfraIdBytes - kSuffixBytes));
  while (prefix.ends_with('-')) prefix.pop_back();
  return prefix + '-';
}

std::string crypted(const pki::Secret& password, const std::string& setting) {
  const auto data = std::make_unique<crypt_data>();  // too large for a stack
  const char* const hash = crypt_r(password.reveal().c_str(), setting.c_str(), data.get());
  std::string text = hash != nullptr && hash[0] == '$' ? hash : "";
  OPENSSL_cleanse(data.get(), sizeof(crypt_data));
  return text;
}

}  // namespace

ClusterIds make_ids(std::string_view cluster_name) {
  ClusterIds ids;
  for (std::size_t i = 0; i < 36; ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23)
      ids.cluster_id += '-';
    else if (i == 14)
      ids.cluster_id += '4';  // RFC 9562 section 5.4: the version, and the variant below
    else
      ids.cluster_id += random_of(i == 19 ? "89ab" : kHexDigits);
  }
  ids.infra_id = infra_prefix(cluster_name);
  // Without vowels, so that no word comes out.
  for (int i = 0; i < 5; ++i) ids.infra_id += random_of("bcdfghjklmnpqrstvwxz2456789");
  return ids;
}

std::string render_metadata(std::string_view cluster_name, const ClusterIds& ids) {
  return Json{{"clusterName", cluster_name}, {"clusterID", ids.cluster_id}, {"infraID", ids.infra_id}}.dump(2) + '\n';
}

std::optional<ClusterIds> parse_metadata(std::string_view text, std::string_view cluster_name) {
  const Json metadata = Json::parse(text, nullptr, false);
  const auto word = [&](const char* name) {
    return metadata.is_object() && metadata.contains(name) && metadata[name].is_string()
               ? metadata[name].get<std::string>()
               : std::string();
  };
  ClusterIds ids{word("clusterID"), word("infraID")};
  const bool is_good = word("clusterName") == cluster_name && is_uuid(ids.cluster_id) &&
                       ids.infra_id.starts_with(infra_prefix(cluster_name)) && ids.infra_id.size() <= kMaxInfraIdBytes;
  if (!is_good) return std::nullopt;
  return ids;
}

pki::Secret make_password() {
  constexpr std::string_view kAlphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789";
  std::string password;
  password.reserve(23);  // a string that grows leaves copies behind
  for (int i = 0; i < 23; ++i) password += i % 6 == 5 ? '-' : random_of(kAlphabet);
  return pki::Secret(std::move(password));
}

std::string bcrypt(const pki::Secret& password) {
  std::array<char, 16> salt{};
  pki::require(RAND_bytes(reinterpret_cast<unsigned char*>(salt.data()), salt.size()) == 1);
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
  pki::require(crypt_gensalt_rn("$2b$", kBcryptRounds, salt.data(), salt.size(), setting.data(), setting.size()) !=
               nullptr);
  std::string hash = crypted(password, setting.data());
  pki::require(!hash.empty());
  return hash;
}

bool is_hash_of(const pki::Secret& password, const std::string& hash) {
  return hash.starts_with("$2") && crypted(password, hash) == hash;
}

std::string name_uuid(std::string_view domain_name) {
  // RFC 9562 section 6.6: 6ba7b810-9dad-11d1-80b4-00c04fd430c8, the namespace of domain names.
  std::string text = "\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4";
  text += std::string("\x00\xc0\x4f\xd4\x30\xc8", 6);
  text += domain_name;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  pki::require(EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha1(), nullptr) == 1);
  hash[6] = static_cast<unsigned char>((hash[6] & 0x0F) | 0x50);  // the version, and the variant below
  hash[8] = static_cast<unsigned char>((hash[8] & 0x3F) | 0x80);
  std::string uuid;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += kHexDigits[hash[i] >> 4];
    uuid += kHexDigits[hash[i] & 0x0F];
  }
  return uuid;
}

}  // namespace hcpnet::bootstrap
