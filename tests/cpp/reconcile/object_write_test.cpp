// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <hcpnet/reconcile/object_write.hpp>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>

#include "support/files.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using testing::ElementsAre;

Json case_data(const std::string& name) {
  const std::string file = "manifest/cases/" + name + ".yaml";
  const text::Parsed parsed = text::parse_yaml(file, test::read_file(test::data_path(file)));
  Diagnostics problems;
  return text::to_json(parsed.documents.at(0), file, problems);
}

Verb verb_of(const std::string& name) {
  for (const Verb verb : {Verb::get, Verb::create, Verb::update})
    if (to_string(verb) == name) return verb;
  ADD_FAILURE() << name;
  return Verb::get;
}

/// "409 Conflict", or 200 alone.
Answer answer_of(const Json& item) {
  const std::string text = item.is_string() ? item.get<std::string>() : std::to_string(item.get<int>());
  const std::size_t space = text.find(' ');
  return {static_cast<unsigned>(std::atoi(text.c_str())), space == std::string::npos ? "" : text.substr(space + 1)};
}

/// An object that somebody else changes, too, behind the answers of a script.
struct Server {
  Json object;
  int version = 1;

  void change_by_somebody_else() {
    object["data"]["theirs"] = std::to_string(++version);
    object["metadata"]["resourceVersion"] = std::to_string(version);
  }
};

const Json kDesired = Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
  "metadata": {"name": "x", "namespace": "ns", "labels": {"app.kubernetes.io/managed-by": "hcpnet"}},
  "data": {"ours": "2"}})");

/// Case OPR-04: every answer, and what follows.
TEST(ObjectWrite, Opr04AnswersOfAServer) {
  const Json steps = case_data("OPR-04")["steps"];
  ASSERT_EQ(steps.size(), 5U);
  for (const Json& step : steps) {
    SCOPED_TRACE(step.dump());
    Server server{kDesired};
    server.object["data"] = {{"ours", "1"}, {"theirs", "1"}};
    server.object["metadata"]["resourceVersion"] = "1";
    Json seen = server.object, written;
    ObjectWrite write(verb_of(step["verb"]));
    std::vector<std::string> sent;
    std::vector<milliseconds> waits, requeues;
    std::size_t answered = 0;
    WriteStep next{WriteStep::Kind::send, write.verb(), {}};
    while (next.kind == WriteStep::Kind::send || next.kind == WriteStep::Kind::requeue) {
      ASSERT_LT(sent.size(), 20U);
      sent.emplace_back(to_string(next.verb));
      Answer answer{200};
      if (next.verb == Verb::get) {
        seen = server.object;
      } else {
        written = next.verb == Verb::create ? kDesired : overlay(seen, kDesired);
        // A script ends where everything has been said: what follows succeeds.
        if (answered < step["answers"].size()) answer = answer_of(step["answers"][answered++]);
        if (answer.status == 429 && step.contains("retry_after_s"))
          answer.retry_after = std::chrono::seconds(step["retry_after_s"].get<int>());
        if (answer.status == 409) server.change_by_somebody_else();
      }
      next = write.on_answer(answer, 0.5);
      (next.kind == WriteStep::Kind::requeue ? requeues : waits).push_back(next.delay);
    }
    EXPECT_EQ(next.kind, WriteStep::Kind::done);
    if (step.contains("expect")) {
      EXPECT_EQ(sent, step["expect"].get<std::vector<std::string>>());
    }
    if (step.contains("min_wait_s")) {
      EXPECT_GE(waits.front(), std::chrono::seconds(step["min_wait_s"].get<int>()));
    }
    if (step.value("keep_foreign_changes", false)) {
      EXPECT_EQ(written["data"], Json::parse(R"({"ours": "2", "theirs": "3"})"));
      EXPECT_EQ(written["metadata"]["resourceVersion"], "3") << "an update that is too late has to be refused";
    }
    if (step.contains("expect_requeues")) {
      ASSERT_EQ(requeues.size(), step["expect_requeues"].get<std::size_t>());
      EXPECT_TRUE(std::is_sorted(requeues.begin(), requeues.end()));
      EXPECT_LT(requeues.front(), requeues.back()) << "growing";
    }
  }
}

TEST(ObjectWrite, DelaysAreSpreadAndBounded) {
  const WriteLimits limits{.max_conflicts = 2, .first_delay = milliseconds{100}, .max_delay = milliseconds{1000}};
  EXPECT_EQ(ObjectWrite(Verb::update, limits).on_answer({500}, 0).delay, milliseconds{50});
  EXPECT_EQ(ObjectWrite(Verb::update, limits).on_answer({500}, 1).delay, milliseconds{100});
  ObjectWrite failing(Verb::update, limits);
  for (int i = 0; i < 100; ++i) EXPECT_LE(failing.on_answer({0}, 1).delay, limits.max_delay);
  EXPECT_EQ(failing.on_answer({503}, 1).delay, limits.max_delay);

  ObjectWrite overtaken(Verb::update, limits);
  std::vector<WriteStep::Kind> kinds;
  for (int i = 0; i < 3; ++i) {
    const WriteStep step = overtaken.on_answer({409, "Conflict"}, 1);
    kinds.push_back(step.kind);
    if (step.kind == WriteStep::Kind::send) {
      EXPECT_EQ(overtaken.on_answer({200}, 1).verb, Verb::update);
    }
  }
  EXPECT_THAT(kinds, ElementsAre(WriteStep::Kind::send, WriteStep::Kind::send, WriteStep::Kind::requeue));
  EXPECT_EQ(overtaken.verb(), Verb::get) << "what it has seen is old";
}

TEST(ObjectWrite, WhatIsRefusedIsNotSentAgain) {
  for (const unsigned status : {400U, 401U, 403U, 405U, 422U})
    EXPECT_EQ(ObjectWrite(Verb::update).on_answer({status}, 0.5).kind, WriteStep::Kind::refused) << status;
  EXPECT_EQ(ObjectWrite(Verb::create).on_answer({404}, 0.5).kind, WriteStep::Kind::requeue) << "no namespace yet";
  EXPECT_EQ(ObjectWrite(Verb::get).on_answer({404}, 0.5).verb, Verb::create);
}

TEST(Overlay, ChangesWhatDiffersAndNothingElse) {
  Json observed = Json::parse(R"({"metadata": {"name": "x", "labels": {"theirs": "1"}, "resourceVersion": "7",
      "ownerReferences": [{"uid": "other"}]},
    "spec": {"ports": [{"name": "b", "port": 2, "nodePort": 30002}], "type": "NodePort", "clusterIP": "172.30.1.1"}})");
  Json desired = Json::parse(R"({"metadata": {"name": "x", "labels": {"app.kubernetes.io/managed-by": "hcpnet"},
      "ownerReferences": [{"uid": "one"}]},
    "spec": {"ports": [{"name": "b", "port": 2}], "type": "ClusterIP", "selector": {}}})");
  const Json both = overlay(observed, desired);
  EXPECT_EQ(both, Json::parse(R"({"metadata": {"name": "x", "resourceVersion": "7",
      "labels": {"theirs": "1", "app.kubernetes.io/managed-by": "hcpnet"},
      "ownerReferences": [{"uid": "other"}, {"uid": "one"}]},
    "spec": {"ports": [{"name": "b", "port": 2, "nodePort": 30002}], "type": "ClusterIP", "clusterIP": "172.30.1.1"}})"));
  EXPECT_TRUE(compare(desired, &both).actions.empty());
  desired["spec"]["ports"] = Json::array({{{"name", "a"}, {"port", 1}}});
  EXPECT_EQ(overlay(observed, desired)["spec"]["ports"], desired["spec"]["ports"])
      << "of another item nothing is left over";
}

/// KubeVirt refuses an interface with two.
TEST(Overlay, ABindingTakesThePlaceOfAnother) {
  const auto machine = [](const char* interfaces) {
    Json object = {{"apiVersion", "kubevirt.io/v1"}, {"kind", "VirtualMachine"}, {"metadata", {{"name", "w0"}}}};
    object[Json::json_pointer("/spec/template/spec/domain/devices/interfaces")] = Json::parse(interfaces);
    return object;
  };
  const Json observed = machine(R"([{"name": "storage", "bridge": {}},
    {"name": "default", "masquerade": {}, "model": "virtio", "macAddress": "02:00:00:00:01:01"}])");
  const Json desired = machine(R"([{"name": "default", "binding": {"name": "l2bridge"}}])");
  EXPECT_EQ(overlay(observed, desired), machine(R"([{"name": "storage", "bridge": {}},
    {"name": "default", "binding": {"name": "l2bridge"}, "model": "virtio", "macAddress": "02:00:00:00:01:01"}])"));
}

}  // namespace
}  // namespace hcpnet::reconcile
