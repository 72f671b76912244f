// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/identity.hpp"

#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ImageReferences, AreTheTagsOfAnImageStream) {
  const std::string text = test::read_text(HCPNET_SOURCE_DIR "/examples/bootstrap/image-references.json");
  const ImageReferences references = parse_image_references("i", text).value();
  EXPECT_EQ(references.release, "4.18.0");
  EXPECT_THAT(references.images.at("etcd"), HasSubstr("@sha256:"));
  for (const char* bad : {"", "{", "[]", "{}", R"({"kind":"ImageStream","spec":{"tags":7}})",
                          R"({"kind":"ImageStream","spec":{"tags":[{"name":"etcd"}]}})",
                          R"({"kind":"List","spec":{"tags":[{"name":"etcd","from":{"name":"x"}}]}})"})
    EXPECT_TRUE(parse_image_references("i", bad).has_error()) << bad;
}

TEST(ResolveImages, TheSpecGoesBeforeTheFileAndEachMissingOneIsAnError) {
  const auto cluster = test::bootstrap_cluster(
      test::bootstrap_text("  pki:\n", "  images: {etcd: registry.example.com/etcd}\n  pki:\n"));
  const Images images =
      resolve_images(cluster, {{"etcd", "other"}, {"hyperkube", "h"}, {"pod", "p"}, {"unused", "u"}}).value();
  EXPECT_EQ(images, (Images{{"etcd", "registry.example.com/etcd"}, {"hyperkube", "h"}, {"pod", "p"}}));
  const auto missing = resolve_images(cluster, {});
  ASSERT_TRUE(missing.has_error());
  EXPECT_EQ(missing.error().error_count(), 2u);
  const Diagnostic first = missing.error().items().at(0);
  EXPECT_EQ(first.path, "/spec/images");
  EXPECT_GT(first.line, 0u);
  EXPECT_THAT(first.message, HasSubstr("the image hyperkube"));
  EXPECT_THAT(first.message, HasSubstr("oc adm release extract --file=image-references quay.io/"));
}

TEST(ResolveImages, NothingThatAShellOrTomlWouldReadOtherwiseIsAnImage) {
  for (const char* bad : {"a\\\"b", "a$b", "a`b", "a'b", "a;b", "ä"}) {
    const auto cluster = test::bootstrap_cluster(
        test::bootstrap_text("  pki:\n", "  images: {etcd: \"" + std::string(bad) + "\"}\n  pki:\n"));
    const auto images = resolve_images(cluster, {{"hyperkube", "h"}, {"pod", "p"}});
    ASSERT_TRUE(images.has_error()) << bad;
    EXPECT_THAT(images.error().to_string(), HasSubstr("[bad-image]"));
  }
}

TEST(CrdNames, AreReadFromTheLines) {
  const auto names = [](const std::string& text) { return read_crd_names("c", text); };
  const std::string head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n";
  EXPECT_THAT(names(head + "  name: things.example.com\nspec:\n  name: other\n").value().value(),
              ElementsAre("things.example.com"));
  EXPECT_THAT(names("---\n# two\n" + head + "  name: a\n---\n" + head + "  name: \"b\"\n").value().value(),
              ElementsAre("a", "b"));
  for (const std::string& bad :
       {std::string(), std::string("---\n"), head, std::string("kind: Pod\nmetadata:\n  name: x\n"),
        head + "  name: a\n---\nkind: Pod\nmetadata:\n  name: b\n"})
    EXPECT_TRUE(names(bad).has_error()) << bad;
}

TEST(CrdNames, OthersFeatureSetsAndProfilesStayOut) {
  const auto is_wanted = [](const std::string& annotations) {
    return read_crd_names("c", "kind: CustomResourceDefinition\nmetadata:\n  annotations:\n" + annotations +
                                   "  name: a\nspec: {}\n")
        .value()
        .has_value();
  };
  const std::string set = "    release.openshift.io/feature-set: ", profile = "    include.release.openshift.io/";
  EXPECT_TRUE(is_wanted("    x: y\n"));
  EXPECT_TRUE(is_wanted(set + "Default\n"));
  EXPECT_TRUE(is_wanted(set + "Default,TechPreviewNoUpgrade\n"));
  EXPECT_FALSE(is_wanted(set + "CustomNoUpgrade,DevPreviewNoUpgrade\n"));
  EXPECT_TRUE(
      is_wanted(profile + "ibm-cloud-managed: \"true\"\n" + profile + "self-managed-high-availability: \"true\"\n"));
  EXPECT_FALSE(is_wanted(profile + "ibm-cloud-managed: \"true\"\n"));
}

TEST(FeatureGate, IsThatOfTheReleaseOrOfNoneInParticular) {
  const std::string head = "kind: FeatureGate\nspec: {}\nstatus:\n  featureGates:\n";
  const auto enabled = [&](const std::string& entries) {
    const auto gates = parse_feature_gate("f", head + entries, "4.18.0");
    return gates.has_value() ? gates->enabled : std::vector<std::string>{"error"};
  };
  const std::string any = "  - {version: \"\", enabled: [{name: Any}]}\n";
  const std::string own = "  - {version: 4.18.0, enabled: [{name: Own}], disabled: []}\n";
  EXPECT_THAT(enabled(any), ElementsAre("Any"));
  EXPECT_THAT(enabled(any + own), ElementsAre("Own"));
  EXPECT_THAT(enabled(own + any), ElementsAre("Own"));
  EXPECT_THAT(enabled("  - {version: 4.17.0, enabled: []}\n"), ElementsAre("error"));
  EXPECT_THAT(enabled("  - {enabled: [x]}\n"), ElementsAre("error"));
  EXPECT_THAT(enabled("  - 7\n"), ElementsAre("error"));
  for (const char* bad : {"", "kind: Pod\n", "kind: FeatureGate\n", "kind: FeatureGate\nstatus: {featureGates: 7}\n",
                          "kind: FeatureGate\nspec: {featureSet: TechPreviewNoUpgrade}\nstatus: {featureGates: []}\n"})
    EXPECT_TRUE(parse_feature_gate("f", bad, "4.18.0").has_error()) << bad;
}

TEST(MachineConfig, HasItsConfigInlineOrRaw) {
  for (const char* good :
       {"kind: MachineConfig\nspec: {config: {ignition: {version: 3.4.0}}}\n",
        "kind: MachineConfig\nspec: {config: {raw: {ignition: {version: 3.4.0}}}}\n",
        "kind: MachineConfig\nspec: {config: {raw: '{\"ignition\": {\"version\": \"3.4.0\"}}'}}\n"}) {
    const auto config = parse_machine_config("m", good);
    ASSERT_TRUE(config.has_value()) << good;
    EXPECT_EQ(config->at("ignition").at("version"), "3.4.0");
  }
  for (const char* bad :
       {"", "[]", "kind: MachineConfig\n", "kind: Pod\nspec: {config: {ignition: {}}}\n",
        "kind: MachineConfig\nspec: {config: {raw: '{'}}\n", "kind: MachineConfig\nspec: {config: {raw: 7}}\n"})
    EXPECT_TRUE(parse_machine_config("m", bad).has_error()) << bad;
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');  // deeper than a stack
  EXPECT_TRUE(parse_machine_config("m", "kind: MachineConfig\nspec: {config: {raw: '{\"ignition\": " + lists + "}'}}\n")
                  .has_error());
}

TEST(Ids, AreRandomAndOfTheirForm) {
  const ClusterIds ids = make_ids("ocp4");
  EXPECT_THAT(ids.cluster_id,
              testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_THAT(ids.infra_id, testing::MatchesRegex("ocp4-[b-z2-9]{5}"));
  EXPECT_NE(make_ids("ocp4"), ids);
  EXPECT_EQ(make_ids(std::string(63, 'a')).infra_id.size(), 27u);
  EXPECT_EQ(parse_metadata(render_metadata("ocp4", ids), "ocp4"), ids);
  EXPECT_FALSE(parse_metadata(render_metadata("ocp4", ids), "ocp5"));
  for (const char* bad : {"", "{}", "[]", R"({"clusterName":"ocp4","clusterID":"x","infraID":"ocp4-aaaaa"})"})
    EXPECT_FALSE(parse_metadata(bad, "ocp4")) << bad;
}

TEST(Password, IsLongEnoughAndItsHashIsBcrypt) {
  const pki::Secret password = make_password();
  EXPECT_THAT(password.reveal(), testing::MatchesRegex("([a-zA-Z2-9]{5}-){3}[a-zA-Z2-9]{5}"));
  EXPECT_FALSE(make_password() == password);
  const std::string hash = bcrypt(password);
  EXPECT_THAT(hash, testing::MatchesRegex("\\$2b\\$10\\$[./A-Za-z0-9]{53}"));
  EXPECT_TRUE(is_hash_of(password, hash));
  EXPECT_FALSE(is_hash_of(make_password(), hash));
  for (const char* bad : {"", "$2b$10$", "$6$x$y", "text"}) EXPECT_FALSE(is_hash_of(password, bad)) << bad;
  // A vector of Openwall's crypt_blowfish, which is where the format comes from.
  EXPECT_TRUE(is_hash_of(pki::Secret("U*U"), "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"));
}

}  // namespace
}  // namespace hcpnet::bootstrap
