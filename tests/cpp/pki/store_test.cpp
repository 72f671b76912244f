// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "pki/pki_support.hpp"

namespace hcpnet::pki {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using test::kNow;
using testing::HasSubstr;

constexpr hours kDay{24};

class Store : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  PkiPlan plan = plan_pki(Layout::hand_made, test::example_cluster());
  StoreOptions options{.now = kNow};

  StoredPki ensure() { return ensure_pki(folder.path(), plan, options).value(); }
  /// The one problem, and that nothing was written because of it.
  Diagnostic problem() {
    const auto before = snapshot();
    const auto result = ensure_pki(folder.path(), plan, options);
    EXPECT_TRUE(result.has_error());
    if (!result.has_error()) return {};
    EXPECT_EQ(result.error().error_count(), 1u) << result.error().to_string();
    EXPECT_EQ(snapshot(), before);
    EXPECT_EQ(result.error().to_string().find("PRIVATE"), std::string::npos);
    return result.error().items().at(0);
  }
  std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file()) files[entry.path().filename()] = test::read_text(entry.path());
    return files;
  }
  static StoreChange change(const StoredPki& pki, const std::string& name) {
    const auto found = std::ranges::find(pki.changes, name, &StoreChange::name);
    return found == pki.changes.end() ? StoreChange{} : *found;
  }
  static std::vector<std::string> changed(const StoredPki& pki) {
    std::vector<std::string> names;
    for (const StoreChange& c : pki.changes)
      if (c.action != StoreAction::kept) names.push_back(c.name + ' ' + std::string(to_string(c.action)));
    return names;
  }
  static ImportedAuthority import_of(const std::string& common_name, std::optional<PrivateKey> other_key = {}) {
    CertificateProfile profile;
    profile.subject.common_name = common_name;
    profile.is_authority = true;
    const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
    const Certificate certificate = issue(profile, key, nullptr, {kNow, kDay * 400});
    return {"corp.crt", "corp.key", certificate.to_pem(), other_key ? other_key->to_pem() : key.to_pem()};
  }
};

TEST_F(Store, KeysAreForTheirOwnerOnlyAndNothingElseIsLeftBehind) {
  const StoredPki pki = ensure();
  std::size_t keys = 0, files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    struct stat status{};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    const bool is_key = entry.path().extension() == ".key";
    EXPECT_EQ(status.st_mode & 07777, is_key ? 0600u : 0644u) << entry.path();
    EXPECT_EQ(test::read_text(entry.path()).find("PRIVATE KEY") != std::string::npos, is_key) << entry.path();
    keys += is_key ? 1 : 0;
    ++files;
  }
  EXPECT_EQ(keys, plan.certificates.size() + 1);
  EXPECT_EQ(files, pki.files.size());
}

TEST_F(Store, ASecondTimeChangesNothing) {
  ensure();
  const auto before = snapshot();
  options.now += kDay;
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  EXPECT_EQ(snapshot(), before);
}

TEST_F(Store, AKeyThatOthersCouldReadIsClosedAgain) {
  ensure();
  ASSERT_EQ(::chmod((folder / "admin.key").c_str(), 0644), 0);
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  struct stat status{};
  ASSERT_EQ(::stat((folder / "admin.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(Store, LeavesAreRenewedBeforeTheyEnd) {
  ensure();
  options.now = kNow + kDay * (365 - 31);
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  options.now = kNow + kDay * (365 - 30);
  const StoredPki pki = ensure();
  for (const StoreChange& c : pki.changes) {
    const PlannedCertificate* planned = plan.find(c.name);
    const bool is_leaf = planned != nullptr && !planned->profile.is_authority;
    EXPECT_EQ(c.action, is_leaf ? StoreAction::renewed : StoreAction::kept) << c.name;
  }
}

TEST_F(Store, ARenewedAuthorityKeepsWhatItSigned) {
  ensure();
  const std::string leaf = test::read_text(folder / "kube-scheduler.crt");
  options.now = kNow + kDay * 300;
  plan = plan_pki(Layout::hand_made, test::example_cluster(), {.authority = kDay * 100});
  // A shorter lifetime is no reason to replace; the end is.
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  options.now = kNow + kDay * 3640;
  const StoredPki pki = ensure();
  EXPECT_EQ(change(pki, "root-ca").action, StoreAction::renewed);
  EXPECT_EQ(change(pki, "kubernetes-ca").action, StoreAction::renewed);
  test::write_file(folder / "old.pem", leaf.substr(0, leaf.find("-----END") + 26));
  const auto ran = test::run("openssl verify -no_check_time -CAfile " + (folder / "root-ca.crt") + " -untrusted " +
                             (folder / "kubernetes-ca.crt") + ' ' + (folder / "old.pem"));
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Store, TheShortLivedSignerIsRenewedInItsLastThird) {
  plan = plan_pki(Layout::installer, test::example_cluster());
  ensure();
  options.now = kNow + hours(15);
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  options.now = kNow + hours(17);
  EXPECT_THAT(changed(ensure()), testing::ElementsAre("kubelet-signer renewed"));
}

TEST_F(Store, LeavesThatAreNotRightAreReplacedWithTheReason) {
  ensure();
  test::write_file(folder / "admin.crt", "rubbish");
  test::write_file(folder / "kube-scheduler.key", test::read_text(folder / "kube-controller-manager.key"));
  fs::remove(folder / "etcd-client.key");
  fs::copy_file(folder / "etcd-peer-master-0.crt", folder / "etcd-server.crt", fs::copy_options::overwrite_existing);
  fs::copy_file(folder / "etcd-peer-master-0.key", folder / "etcd-server.key", fs::copy_options::overwrite_existing);
  const StoredPki pki = ensure();
  EXPECT_EQ(changed(pki).size(), 4u);
  EXPECT_THAT(change(pki, "admin").reason, HasSubstr("no PEM block"));
  EXPECT_EQ(change(pki, "kube-scheduler").reason, "its key was another");
  EXPECT_EQ(change(pki, "etcd-client").reason, "its key was not there");
  EXPECT_THAT(change(pki, "etcd-server").reason, HasSubstr("its subject is CN=etcd-peer-master-0, not CN=etcd-server"));
}

TEST_F(Store, AMovedNodeReplacesOnlyWhatNamesIt) {
  ensure();
  pki::ClusterIdentity cluster = test::example_cluster();
  cluster.control_plane[1].address = Ipv4(192, 168, 126, 122);
  plan = plan_pki(Layout::hand_made, cluster);
  EXPECT_THAT(changed(ensure()), testing::UnorderedElementsAre("etcd-server replaced", "etcd-peer-master-1 replaced",
                                                               "kube-apiserver replaced"));
}

TEST_F(Store, AnotherAlgorithmReplacesLeavesAndKeepsAuthorities) {
  ensure();
  options.algorithm = KeyAlgorithm::ecdsa_p384;
  const StoredPki pki = ensure();
  EXPECT_EQ(change(pki, "admin").reason, "its key was ECDSAP256, not ECDSAP384");
  EXPECT_EQ(change(pki, "root-ca").action, StoreAction::kept);
}

TEST_F(Store, AnAuthorityIsNeverReplacedInSilence) {
  ensure();
  const std::string certificate = folder / "etcd-ca.crt", key = folder / "etcd-ca.key";
  const std::string good = test::read_text(certificate), good_key = test::read_text(key);
  test::write_file(key, test::read_text(folder / "kubernetes-ca.key"));
  EXPECT_EQ(problem().code, "pki-key-mismatch");
  test::write_file(key, "rubbish");
  EXPECT_EQ(problem().code, "pki-bad-key");
  fs::remove(key);
  EXPECT_EQ(problem().code, "pki-missing-key");
  test::write_file(key, good_key);
  test::write_file(certificate, "rubbish");
  const Diagnostic bad = problem();
  EXPECT_EQ(bad.code, "pki-bad-certificate");
  EXPECT_EQ(bad.file, certificate);
  // The key alone is enough to go on: that is what an interrupted first run leaves.
  fs::remove(certificate);
  EXPECT_EQ(change(ensure(), "etcd-ca").action, StoreAction::made);
  EXPECT_EQ(test::read_text(key), good_key);
}

TEST_F(Store, AnAuthorityThatEndedOrThatIsNoneIsAnError) {
  ensure();
  options.now = kNow + kDay * 3651;
  EXPECT_THAT(ensure_pki(folder.path(), plan, options).error().to_string(),
              HasSubstr("this authority ended at 2037-01-12T08:00:00Z"));
  options.now = kNow - kDay;
  EXPECT_THAT(ensure_pki(folder.path(), plan, options).error().to_string(), HasSubstr("pki-not-yet-valid"));
  options.now = kNow;
  fs::copy_file(folder / "etcd-client.crt", folder / "etcd-ca.crt", fs::copy_options::overwrite_existing);
  fs::copy_file(folder / "etcd-client.key", folder / "etcd-ca.key", fs::copy_options::overwrite_existing);
  EXPECT_EQ(problem().code, "pki-not-authority");
}

TEST_F(Store, AnImportedAuthoritySignsWhatIsBelowIt) {
  options.imports.emplace("kubernetes-ca", import_of("corp"));
  const StoredPki pki = ensure();
  EXPECT_EQ(change(pki, "kubernetes-ca").action, StoreAction::imported);
  EXPECT_EQ(test::read_text(folder / "kubernetes-ca.crt"), options.imports.at("kubernetes-ca").certificate);
  for (const char* name : {"admin", "kubelet-ca", "kube-apiserver"})
    EXPECT_EQ(pki.identities.at(name).identity.certificate.info().issuer.common_name, "corp") << name;
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
  // And stays when it is not named any more: the folder is the memory.
  options.imports.clear();
  EXPECT_THAT(changed(ensure()), testing::IsEmpty());
}

TEST_F(Store, AnImportIntoAFolderInUseReplacesWhatTheOldAuthoritySigned) {
  ensure();
  options.imports.emplace("front-proxy-ca", import_of("corp"));
  EXPECT_THAT(changed(ensure()),
              testing::UnorderedElementsAre("front-proxy-ca imported", "front-proxy-client replaced"));
}

TEST_F(Store, BadImportsAreNamedByTheirFiles) {
  options.imports.emplace("kubernetes-ca", import_of("corp", PrivateKey::generate(KeyAlgorithm::ecdsa_p256)));
  Diagnostic found = problem();
  EXPECT_EQ(found.code, "pki-key-mismatch");
  EXPECT_EQ(found.file, "corp.key");
  options.imports.clear();
  options.imports.emplace("etcd", import_of("corp"));
  found = problem();
  EXPECT_EQ(found.code, "pki-unknown-authority");
  EXPECT_THAT(found.message, HasSubstr("no authority etcd"));
}

TEST_F(Store, APathLengthThatForbidsTheAuthoritiesBelowIsAnError) {
  // The fault of a well-known walk-through: pathlen:0 on an authority that signs another.
  ASSERT_EQ(
      test::run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=corp -days 36500 "
                "-addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign -keyout " +
                (folder / "in.key") + " -out " + (folder / "in.crt"))
          .status,
      0);
  options.now = std::chrono::system_clock::now();  // what openssl wrote begins now
  options.imports.emplace("kubernetes-ca", ImportedAuthority{"in.crt", "in.key", test::read_text(folder / "in.crt"),
                                                             Secret(test::read_text(folder / "in.key"))});
  EXPECT_EQ(problem().code, "pki-path-length");
  auto import = options.imports.extract("kubernetes-ca");
  import.key() = "front-proxy-ca";  // signs no authority
  options.imports.insert(std::move(import));
  EXPECT_TRUE(ensure_pki(folder.path(), plan, options));
}

TEST_F(Store, AnAuthorityThatMaySignOtherThingsOnlyIsAnError) {
  const auto restricted = [&](const std::string& extension) {
    EXPECT_EQ(
        test::run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=corp -days 36500 "
                  "-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -addext " +
                  extension + " -keyout " + (folder / "in.key") + " -out " + (folder / "in.crt"))
            .status,
        0);
    options.now = std::chrono::system_clock::now();  // what openssl wrote begins now
    return ImportedAuthority{"in.crt", "in.key", test::read_text(folder / "in.crt"),
                             Secret(test::read_text(folder / "in.key"))};
  };
  options.imports.insert_or_assign("kubernetes-ca", restricted("extendedKeyUsage=clientAuth"));
  Diagnostic found = problem();
  EXPECT_EQ(found.code, "pki-bad-chain");
  EXPECT_EQ(found.file, "in.crt");
  EXPECT_THAT(found.message, HasSubstr("kube-apiserver"));
  options.imports.insert_or_assign("kubernetes-ca",
                                   restricted("nameConstraints=critical,permitted\\;DNS:corp.example"));
  EXPECT_EQ(problem().code, "pki-bad-chain");
  options.imports.insert_or_assign("kubernetes-ca", restricted("extendedKeyUsage=clientAuth,serverAuth"));
  EXPECT_TRUE(complete_pki(plan, {}, folder.path(), options));
  options.imports.clear();
  options.imports.emplace("front-proxy-ca", restricted("extendedKeyUsage=clientAuth"));  // signs clients alone
  EXPECT_TRUE(complete_pki(plan, {}, folder.path(), options));
}

TEST_F(Store, AnImportedAuthorityMayHaveItsRootElsewhere) {
  const Identity root = [&] {
    const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
    CertificateProfile profile;
    profile.subject.common_name = "corp root";
    profile.is_authority = true;
    return Identity{issue(profile, key, nullptr, {kNow, kDay * 400}), key};
  }();
  CertificateProfile profile;
  profile.subject.common_name = "corp issuing";
  profile.is_authority = true;
  const PrivateKey key = PrivateKey::generate(KeyAlgorithm::ecdsa_p256);
  const std::string issuing = issue(profile, key, &root, {kNow, kDay * 400}).to_pem();
  for (const char* name : {"root-ca", "kubernetes-ca"})
    for (const std::string& above : {std::string(), root.certificate.to_pem()}) {
      options.imports.clear();
      options.imports.emplace(name, ImportedAuthority{"corp.crt", "corp.key", issuing + above, key.to_pem()});
      EXPECT_TRUE(complete_pki(plan, {}, folder.path(), options)) << name << ' ' << above.size();
    }
}

TEST_F(Store, WhatCannotBeWrittenLeavesEverythingAsItWas) {
  test::write_file(folder / "file", "in the way");
  const auto result = ensure_pki(folder / "file", plan, options);
  ASSERT_TRUE(result.has_error());
  fs::create_directories(folder / "pki/kube-scheduler.crt/x");
  EXPECT_TRUE(ensure_pki(folder / "pki", plan, options).has_error());
  fs::create_directories(folder / "set/last/x");
  const auto in_the_way = write_files(folder / "set", {{"first", Secret("1")}, {"last", Secret("2")}});
  ASSERT_TRUE(in_the_way.has_error());
  EXPECT_THAT(in_the_way.error().to_string(), HasSubstr("Is a directory"));
  EXPECT_FALSE(fs::exists(folder / "set/first"));
  const auto written = write_files(folder / "new/deep", {{"a", Secret("1")}, {"../../file/b", Secret("2")}});
  ASSERT_TRUE(written.has_error());
  EXPECT_EQ(written.error().items().at(0).code, "unwritable-file");
  EXPECT_FALSE(fs::exists(folder / "new"));
}

TEST_F(Store, APipeInPlaceOfAKeyIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder / "root-ca.key").c_str(), 0600), 0);
  EXPECT_EQ(problem().code, "unreadable-file");
}

TEST_F(Store, ExpiryIsReportedFirstEndFirst) {
  plan = plan_pki(Layout::installer, test::example_cluster());
  ensure();
  test::write_file(folder / "broken.crt", "rubbish");
  Diagnostics problems;
  const auto soon = report_expiry(folder.path(), kNow + hours(20), kDay * 30, problems);
  ASSERT_FALSE(soon.empty());
  EXPECT_EQ(soon[0].subject.common_name, "kubelet-signer");
  EXPECT_EQ(soon[0].state, ExpiryState::due);
  EXPECT_TRUE(std::ranges::is_sorted(soon, {}, &ExpiryEntry::not_after));
  EXPECT_EQ(problems.error_count(), 1u);
  const auto late = report_expiry(folder.path(), kNow + kDay * 366, kDay * 30, problems);
  EXPECT_EQ(late[0].state, ExpiryState::expired);
  EXPECT_EQ(late.back().state, ExpiryState::valid);
  const auto early = report_expiry(folder.path(), kNow, std::chrono::seconds::max(), problems);
  EXPECT_EQ(early[0].state, ExpiryState::valid) << "the last third of its lifetime, and no more";
}

}  // namespace
}  // namespace hcpnet::pki
