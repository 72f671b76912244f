// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/render.hpp>
#include <hcpnet/text/json.hpp>
#include <utility>

namespace hcpnet::bootstrap {
namespace {

constexpr std::size_t kMaxInputBytes = 1024 * 1024;

class InputReader {
 public:
  InputReader(const spec::ValidBootstrapCluster& cluster, Diagnostics& problems)
      : cluster_(cluster), problems_(problems) {}

  std::string path_of(const std::string& name) const { return name.starts_with('/') ? name : cluster_.folder + name; }

  pki::Secret read(const std::string& name) {
    const std::string path = path_of(name);
    const std::size_t before = problems_.error_count();
    auto text = pki::read_file(path, kMaxInputBytes, problems_);
    if (!text && problems_.error_count() == before) report("unreadable-file", path, "is not there");
    if (text && text->reveal().size() > kMaxInputBytes) report("unreadable-file", path, "is larger than 1 MiB");
    return text ? *std::move(text) : pki::Secret();
  }

  /// {"auths": {"registry": {"auth": "..."}}}: only its form is looked at, and nothing of it is quoted.
  pki::Secret read_pull_secret() {
    const std::string& name = cluster_.spec.pull_secret_file;
    const std::size_t before = problems_.error_count();
    pki::Secret secret = read(name);
    if (problems_.error_count() != before) return secret;
    const text::Parsed parsed = text::parse_json("", secret.reveal());
    const text::Value* auths = nullptr;
    if (!parsed.documents.empty() && !parsed.problems.has_errors()) auths = parsed.documents.front().find("auths");
    bool is_good = auths != nullptr && auths->type == text::ValueType::map && !auths->members.empty();
    for (std::size_t i = 0; is_good && i < auths->members.size(); ++i) {
      const text::Value* auth = auths->members[i].value.find("auth");
      is_good = auth != nullptr && auth->type == text::ValueType::string && !auth->text.empty();
    }
    if (!is_good)
      report("bad-pull-secret", path_of(name),
             "is no pull secret: JSON with \"auths\", and an \"auth\" for each registry");
    return secret;
  }

  std::string read_ssh_key() {
    const std::string& name = cluster_.spec.ssh_key_file;
    const std::size_t before = problems_.error_count();
    std::string key = read(name).reveal();
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    const bool is_public = (key.starts_with("ssh-") || key.starts_with("ecdsa-") || key.starts_with("sk-")) &&
                           key.find(' ') != std::string::npos && key.find('\n') == std::string::npos;
    if (problems_.error_count() == before && !is_public)
      report("bad-ssh-key", path_of(name), "is no public SSH key: one line, its kind first");
    return key;
  }

  pki::ImportedAuthority read_authority(const spec::BootstrapCluster::Pki::Authority& authority) {
    pki::ImportedAuthority imported;
    imported.certificate_file = path_of(authority.certificate_file);
    imported.key_file = path_of(authority.key_file);
    imported.certificate = read(authority.certificate_file).reveal();
    imported.key = read(authority.key_file);
    return imported;
  }

 private:
  void report(std::string_view code, const std::string& path, std::string message) {
    Diagnostic d;
    d.file = path;
    d.code = std::string(code);
    d.message = std::move(message);
    problems_.add(std::move(d));
  }
  const spec::ValidBootstrapCluster& cluster_;
  Diagnostics& problems_;
};

}  // namespace

Result<Inputs, Diagnostics> read_inputs(const spec::ValidBootstrapCluster& cluster, const std::string& output_folder,
                                        pki::Time now) {
  Diagnostics problems;
  InputReader reader(cluster, problems);
  Inputs inputs{.now = now,
                .pull_secret = reader.read_pull_secret(),
                .ssh_key = reader.read_ssh_key(),
                .pki = {},
                .authorities = {}};
  for (const auto& authority : cluster.spec.pki.authorities)
    inputs.authorities.emplace(authority.name, reader.read_authority(authority));
  auto existing = pki::read_pki(output_folder + "/pki", plan_pki(cluster));
  if (existing)
    inputs.pki = *std::move(existing);
  else
    problems.append(existing.error());
  if (problems.has_errors()) return problems;
  return inputs;
}

}  // namespace hcpnet::bootstrap
