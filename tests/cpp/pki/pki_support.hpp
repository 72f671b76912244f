// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hcpnet/pki/store.hpp>
#include <iterator>
#include <string>
#include <string_view>

namespace hcpnet::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hcpnet-pki-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Ran {
  int status = 0;
  std::string output;  ///< both streams
};
inline Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) ran.output += static_cast<char>(c);
  ran.status = ::pclose(pipe);
  return ran;
}

inline constexpr pki::Time kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z
inline std::string at_now() {
  return " -attime 1800000000 ";
}

inline pki::ClusterIdentity example_cluster() {
  return {.domain = "ocp4.example.com",
          .api_vip = Ipv4(192, 168, 126, 10),
          .service_address = Ipv4(172, 30, 0, 1),
          .bootstrap = {"bootstrap", Ipv4(192, 168, 126, 100)},
          .control_plane = {{"master-0", Ipv4(192, 168, 126, 101)},
                            {"master-1", Ipv4(192, 168, 126, 102)},
                            {"master-2", Ipv4(192, 168, 126, 103)}}};
}

/// The authorities above a certificate in two files: the root, and what stands between.
inline void write_chain(const TemporaryFolder& folder, const pki::PkiPlan& plan, const pki::StoredPki& pki,
                        const std::string& name) {
  std::string between, root = name;
  for (const auto* step = plan.find(name); !step->issuer.empty(); step = plan.find(root)) {
    root = step->issuer;
    if (!plan.find(root)->issuer.empty()) between += pki.identities.at(root).identity.certificate.to_pem();
  }
  write_file(folder / "root.pem", pki.identities.at(root).identity.certificate.to_pem());
  write_file(folder / "between.pem", between + "\n");
}

/// Empty when `openssl verify` takes the certificate; what it says otherwise.
inline std::string verify(const TemporaryFolder& folder, const pki::PkiPlan& plan, const pki::StoredPki& pki,
                          const std::string& name, const std::string& options) {
  write_chain(folder, plan, pki, name);
  write_file(folder / "leaf.pem", pki.identities.at(name).identity.certificate.to_pem());
  const bool has_between = read_text(folder / "between.pem").size() > 1;
  const Ran ran = run("openssl verify -x509_strict -CAfile " + (folder / "root.pem") +
                      (has_between ? " -untrusted " + (folder / "between.pem") : std::string()) + at_now() + options +
                      ' ' + (folder / "leaf.pem"));
  return ran.status == 0 ? "" : ran.output;
}

}  // namespace hcpnet::test
