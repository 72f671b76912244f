// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/bootstrap/render.hpp>
#include <hcpnet/text/json.hpp>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "bootstrap/identity.hpp"
#include "bootstrap/problem.hpp"
#include "text/byte_order_mark.hpp"

namespace hcpnet::bootstrap {
namespace {

namespace fs = std::filesystem;

class InputReader {
 public:
  InputReader(const spec::ValidBootstrapCluster& cluster, const InputLimits& limits, Diagnostics& problems)
      : cluster_(cluster), limits_(limits), problems_(problems) {}

  std::string path_of(const std::string& name) const { return name.starts_with('/') ? name : cluster_.folder + name; }

  /// Empty, and reported, when there is nothing that could be read.
  pki::Secret read(const std::string& path, std::size_t max_bytes) {
    const std::size_t before = problems_.error_count();
    auto text = pki::read_file(path, max_bytes, problems_);
    if (!text && problems_.error_count() == before) report("unreadable-file", path, "is not there");
    if (text && text->reveal().size() > max_bytes)
      report("unreadable-file", path, "is larger than " + std::to_string(max_bytes) + " bytes");
    return text ? *std::move(text) : pki::Secret();
  }
  pki::Secret read_named(const std::string& name) { return read(path_of(name), limits_.max_file_bytes); }

  /// {"auths": {"registry": {"auth": "..."}}}: only its form is looked at, and nothing of it is quoted.
  pki::Secret read_pull_secret() {
    const std::string& name = cluster_.spec.pull_secret_file;
    const std::size_t before = problems_.error_count();
    pki::Secret secret = read_named(name);
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
    // Go's reader of JSON, which nodes and the API server have, takes no byte order mark.
    return pki::Secret(std::string(text::without_byte_order_mark(secret.reveal())));
  }

  std::string read_ssh_key() {
    const std::string& name = cluster_.spec.ssh_key_file;
    const std::size_t before = problems_.error_count();
    std::string key = read_named(name).reveal();
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    const bool is_public = (key.starts_with("ssh-") || key.starts_with("ecdsa-") || key.starts_with("sk-")) &&
                           key.find(' ') != std::string::npos &&
                           std::ranges::all_of(key, [](char c) { return c >= ' ' && c <= '~'; });
    if (problems_.error_count() == before && !is_public)
      report("bad-ssh-key", path_of(name), "is no public SSH key: one line of ASCII, its kind first");
    return key;
  }

  Authorities read_authorities() {
    Authorities authorities;
    for (const auto& authority : cluster_.spec.pki.authorities) {
      pki::ImportedAuthority& imported = authorities[authority.name];
      imported.certificate_file = path_of(authority.certificate_file);
      imported.key_file = path_of(authority.key_file);
      imported.certificate = read(imported.certificate_file, limits_.max_file_bytes).reveal();
      imported.key = read(imported.key_file, limits_.max_file_bytes);
    }
    return authorities;
  }

  Images read_images(Diagnostics& warnings) {
    ImageReferences references;
    if (const auto& name = cluster_.spec.image_references_file) {
      const std::size_t before = problems_.error_count();
      const std::string text = read_named(*name).reveal();
      if (problems_.error_count() != before) return {};  // each missing image would be told again
      take(parse_image_references(path_of(*name), text), references);
      if (problems_.error_count() != before) return {};
      const std::string& version = cluster_.spec.openshift_version;
      if (!references.release.empty() && references.release != version &&
          !references.release.starts_with(version + '.')) {
        Diagnostic d = problem(path_of(*name), "other-release",
                               "these images are of the release " + references.release + ", not " + version);
        d.severity = Severity::warning;
        warnings.add(std::move(d));
      }
    }
    Images images;
    take(resolve_images(cluster_, references.images), images);
    return images;
  }

  std::vector<CrdFile> read_crds(Diagnostics& warnings) {
    std::vector<CrdFile> crds;
    std::map<std::string, std::string, std::less<>> owners;
    std::size_t others = 0;
    const std::string folder = path_of(*cluster_.spec.crds_folder);
    for (const std::string& name :
         list(folder, [](const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); })) {
      const std::string path = folder + '/' + name;
      const std::size_t before = problems_.error_count();
      std::string text = read(path, limits_.max_crd_bytes).reveal();
      if (problems_.error_count() != before) continue;
      std::optional<std::vector<std::string>> found;
      take(read_crd_names(path, text), found);
      if (problems_.error_count() != before) continue;
      if (!found) {
        ++others;
        continue;
      }
      for (const std::string& crd : *found) {
        const auto [owner, is_new] = owners.emplace(crd, name);
        if (!is_new) report("duplicate-crd", path, "defines " + crd + ", which " + owner->second + " defines too");
      }
      crds.push_back({name, std::move(text)});
    }
    if (crds.empty() && !problems_.has_errors())
      report("bad-crd", folder, "holds no CustomResourceDefinition for the default features (*.yaml)");
    if (others > 0) {
      Diagnostic d =
          problem(folder, "other-feature-set",
                  std::to_string(others) + " files are of other feature sets or cluster profiles and stay out");
      d.severity = Severity::warning;
      warnings.add(std::move(d));
    }
    return crds;
  }

  FeatureGates read_feature_gates() {
    FeatureGates gates;
    const std::string& name = *cluster_.spec.feature_gate_file;
    const std::size_t before = problems_.error_count();
    const std::string text = read_named(name).reveal();
    if (problems_.error_count() == before)
      take(parse_feature_gate(path_of(name), text, cluster_.spec.openshift_version), gates);
    return gates;
  }

  std::map<std::string, nlohmann::json, std::less<>> read_machine_configs() {
    std::map<std::string, nlohmann::json, std::less<>> configs;
    std::vector<std::string> pools{"master"};
    if (!cluster_.with_role(spec::NodeRole::worker).empty()) pools.emplace_back("worker");
    const std::string folder = path_of(*cluster_.spec.machine_configs_folder);
    const std::size_t before_all = problems_.error_count();
    const auto files = list(folder, [](const std::string& file) { return file.ends_with(".yaml"); });
    if (problems_.error_count() != before_all) return configs;
    for (const std::string& pool : pools) {
      const std::string prefix = "rendered-" + pool + '-';
      std::vector<std::string> found;
      std::ranges::copy_if(files, std::back_inserter(found), [&](const auto& f) { return f.starts_with(prefix); });
      if (found.size() != 1) {
        report("bad-machine-config", folder,
               "holds " + std::to_string(found.size()) + " files " + prefix + "*.yaml; one is needed");
        continue;
      }
      const std::string path = folder + '/' + found.front();
      const std::size_t before = problems_.error_count();
      const std::string text = read(path, limits_.max_machine_config_bytes).reveal();
      if (problems_.error_count() == before) take(parse_machine_config(path, text), configs[pool]);
    }
    return configs;
  }

  PreviousZones read_zones(const std::string& output_folder) {
    PreviousZones zones;
    for (RenderedFile& zone : render_zones(cluster_)) {
      auto text = pki::read_file(output_folder + "/network/" + zone.name, limits_.max_file_bytes, problems_);
      if (text) zones.emplace(std::move(zone.name), text->reveal());
    }
    return zones;
  }

  ClusterIds read_ids(const std::string& output_folder) {
    const std::string path = output_folder + '/' + kMetadataFile;
    const auto text = pki::read_file(path, limits_.max_file_bytes, problems_);
    if (!text) return make_ids(cluster_.spec.cluster_name);
    auto ids = parse_metadata(text->reveal(), cluster_.spec.cluster_name);
    if (ids) return *std::move(ids);
    // A new id in its place would make the installed cluster another one.
    report("bad-metadata", path, "does not hold the ids of this cluster; remove it to have new ones");
    return {};
  }

  Kubeadmin read_kubeadmin(const std::string& output_folder) {
    constexpr std::size_t kMaxPasswordBytes = 72;  // bcrypt looks at no more
    constexpr std::size_t kMinPasswordBytes = 23;  // OpenShift refuses shorter ones
    Kubeadmin kubeadmin;
    const std::string path = output_folder + '/' + kPasswordFile;
    const std::size_t before = problems_.error_count();
    const auto password = pki::read_file(path, limits_.max_file_bytes, problems_);
    const auto hash = pki::read_file(output_folder + '/' + kPasswordHashFile, limits_.max_file_bytes, problems_);
    if (problems_.error_count() != before) return kubeadmin;
    kubeadmin.password = password ? *password : make_password();
    const std::size_t bytes = kubeadmin.password.reveal().size();
    if (bytes < kMinPasswordBytes || bytes > kMaxPasswordBytes) {
      report("bad-password", path, "OpenShift takes 23 to 72 characters, and no line end behind them");
      return kubeadmin;
    }
    kubeadmin.hash = hash ? hash->reveal() : "";
    if (!is_hash_of(kubeadmin.password, kubeadmin.hash)) kubeadmin.hash = bcrypt(kubeadmin.password);
    return kubeadmin;
  }

 private:
  template <class T>
  void take(Result<T, Diagnostics> result, T& into) {
    if (result)
      into = *std::move(result);
    else
      problems_.append(result.error());
  }

  template <class Wanted>
  std::vector<std::string> list(const std::string& folder, Wanted wanted) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (std::string name = entry->path().filename(); wanted(name)) names.push_back(std::move(name));
    if (error) report("unreadable-file", folder, "can't be read: " + error.message());
    if (names.size() > limits_.max_folder_files) {
      report("unreadable-file", folder, "holds more than " + std::to_string(limits_.max_folder_files) + " files");
      names.clear();
    }
    std::ranges::sort(names);
    return names;
  }

  void report(std::string_view code, const std::string& path, std::string message) {
    problems_.add(problem(path, code, std::move(message)));
  }

  const spec::ValidBootstrapCluster& cluster_;
  const InputLimits& limits_;
  Diagnostics& problems_;
};

}  // namespace

Result<Inputs, Diagnostics> read_inputs(const spec::ValidBootstrapCluster& cluster, const std::string& output_folder,
                                        pki::Time now, const InputLimits& limits) {
  Diagnostics problems;
  InputReader reader(cluster, limits, problems);
  Inputs inputs;
  inputs.now = now;
  inputs.pull_secret = reader.read_pull_secret();
  inputs.ssh_key = reader.read_ssh_key();
  inputs.images = reader.read_images(inputs.warnings);
  if (cluster.spec.crds_folder) inputs.crds = reader.read_crds(inputs.warnings);
  if (cluster.spec.feature_gate_file) inputs.feature_gates = reader.read_feature_gates();
  if (cluster.spec.machine_configs_folder) inputs.machine_configs = reader.read_machine_configs();
  inputs.authorities = reader.read_authorities();
  auto existing = pki::read_pki(output_folder + "/pki", plan_pki(cluster));
  if (existing)
    inputs.pki = *std::move(existing);
  else
    problems.append(existing.error());
  inputs.zones = reader.read_zones(output_folder);
  inputs.ids = reader.read_ids(output_folder);
  inputs.kubeadmin = reader.read_kubeadmin(output_folder);
  if (problems.has_errors()) return problems;
  return inputs;
}

Result<Authorities, Diagnostics> read_authorities(const spec::ValidBootstrapCluster& cluster,
                                                  const InputLimits& limits) {
  Diagnostics problems;
  Authorities authorities = InputReader(cluster, limits, problems).read_authorities();
  if (problems.has_errors()) return problems;
  return authorities;
}

}  // namespace hcpnet::bootstrap
