// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "text/json_patch.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;
using Kind = Operation::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kKinds{{{"add", Kind::add},
                                                                   {"remove", Kind::remove},
                                                                   {"replace", Kind::replace},
                                                                   {"move", Kind::move},
                                                                   {"copy", Kind::copy},
                                                                   {"test", Kind::test}}};

class Reader {
 public:
  Reader(const Json& json, Dialect dialect, const PatchLimits& limits)
      : json_(json), dialect_(dialect), limits_(limits) {}

  /// An error has a reason.
  PatchError read(Operation& o) {
    if (!json_.is_object()) return fail("an operation is an object");
    if (!text("op", o.op)) return fail("op required: a string");
    const auto kind = std::ranges::find(kKinds, o.op, &decltype(kKinds)::value_type::first);
    error_.op = o.op;
    if (kind == kKinds.end()) return fail("there is no such operation");
    o.kind = kind->second;
    if (!pointer("path", o.path_text, o.path)) return error_;
    const bool has_source = o.kind == Kind::move || o.kind == Kind::copy;
    if (has_source && !pointer("from", o.from_text, o.from)) return error_;
    error_.pointer = o.path_text;
    return value(o, has_source);
  }

 private:
  PatchError fail(std::string reason) {
    error_.reason = std::move(reason);
    return error_;
  }
  bool text(const char* name, std::string& out) const {
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_string()) return false;
    out = found->get_ref<const std::string&>();
    return true;
  }
  bool pointer(const char* name, std::string& out, std::vector<Token>& tokens) {
    if (!text(name, out)) {
      fail(std::string(name) + " required: a string");
      return false;
    }
    error_.pointer = out;
    auto parsed = parse_pointer(out);
    if (!parsed) {
      fail(std::string(name) +
           (out.front() == '/' ? ": in a pointer ~ stands before 0 or 1 only" : ": a pointer must start with /"));
      return false;
    }
    tokens = std::move(*parsed);
    if (tokens.size() <= limits_.max_depth) return true;
    error_.code = PatchErrc::too_large;
    fail(std::string(name) + ": more than " + std::to_string(limits_.max_depth) + " levels");
    return false;
  }
  PatchError value(Operation& o, bool has_source) {
    const auto found = json_.find("value");
    if (found != json_.end()) {
      o.value = &*found;
    } else if (o.kind != Kind::remove && !has_source) {
      return fail("value required");
    } else if (o.kind != Kind::remove && dialect_ == Dialect::hypershift) {
      return fail("value required: HyperShift's webhook wants one in every operation but remove");
    }
    return {};
  }

  const Json& json_;
  Dialect dialect_;
  const PatchLimits& limits_;
  PatchError error_;
};

}  // namespace

Result<std::vector<Operation>, PatchError> read_operations(const Json& patch, Dialect dialect,
                                                           const PatchLimits& limits) {
  PatchError error;
  if (!patch.is_array()) {
    error.reason = "a JSON Patch is a list of operations";
    return error;
  }
  if (patch.size() > limits.max_operations) {
    error.code = PatchErrc::too_large;
    error.reason = "more than " + std::to_string(limits.max_operations) + " operations";
    return error;
  }
  std::vector<Operation> operations(patch.size());
  for (std::size_t i = 0; i < patch.size(); ++i) {
    error = Reader(patch[i], dialect, limits).read(operations[i]);
    if (error.reason.empty()) continue;
    error.operation = i;
    return error;
  }
  return operations;
}

Extent measure(const Json& value, std::size_t max_depth) {
  Extent extent{sizeof(Json), 0};
  if (value.is_string()) extent.bytes += value.get_ref<const std::string&>().size();
  if (!value.is_structured()) return extent;
  if (max_depth > 0) {  // what lies deeper is refused anyway
    for (auto i = value.begin(); i != value.end(); ++i) {
      const Extent inner = measure(*i, max_depth - 1);
      extent.bytes += inner.bytes + (value.is_object() ? sizeof(Json::object_t::value_type) + i.key().size() : 0);
      extent.depth = std::max(extent.depth, inner.depth);
    }
  }
  ++extent.depth;
  return extent;
}

}  // namespace hcpnet::text
