// SPDX-License-Identifier: Apache-2.0
#include "text/json_patch.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;
using Kind = Operation::Kind;

/// Thrown inside this file where an operation fails; apply_operations() says which it was.
struct Failure {
  PatchErrc code;
  std::string reason;
  bool in_from = false;
};
[[noreturn]] void fail(PatchErrc code, std::string reason) {
  throw Failure{code, std::move(reason)};
}
[[noreturn]] void fail_missing(std::string reason) {
  fail(PatchErrc::missing, "missing target: " + std::move(reason));
}
std::string in_quotes(std::string_view name) {
  constexpr std::size_t kMaxShown = 60;
  return '"' + std::string(name.substr(0, kMaxShown)) + (name.size() > kMaxShown ? "...\"" : "\"");
}

// HyperShift's library tells a null that a patch has set from one that the document had: a path leads through neither,
// but `add` replaces only the latter, and only the latter is equal to null.
const Json kSetNull = Json(Json::value_t::discarded);
bool is_set_null(const Json& value) {
  return value.is_discarded();
}

class Patcher {
 public:
  Patcher(Json& document, Dialect dialect, const PatchLimits& limits)
      : document_(document), hypershift_(dialect == Dialect::hypershift), limits_(limits) {
    charge(document_, 0);
  }

  void apply(const Operation& o) {
    switch (o.kind) {
      case Kind::add:
        if (hypershift_) make_parents(o.path);
        return add(o.path, added(*o.value));
      case Kind::remove:
        remove(o.path);
        return;
      case Kind::replace:
        return replace(o.path, added(*o.value));
      case Kind::move:
        return move(o);
      case Kind::copy:
        return add(o.path, Json(source(o)));
      case Kind::test:
        return test(o);
    }
  }

 private:
  using Path = std::span<const Token>;

  /// A value of the patch as it stands in the document. Its depth is looked at first: a copy is made level by level on
  /// the stack.
  [[nodiscard]] Json added(const Json& value) const {
    check_depth(measure(value, limits_.max_depth + 1).depth);
    return hypershift_ && value.is_null() ? kSetNull : value;
  }

  void check_depth(std::size_t depth) const {
    if (depth > limits_.max_depth)
      fail(PatchErrc::too_large, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  }
  void charge(const Json& value, std::size_t above) {
    const Extent extent = measure(value, limits_.max_depth + 1);
    bytes_ += extent.bytes;
    if (bytes_ > limits_.max_bytes)
      fail(PatchErrc::too_large, "more than " + std::to_string(limits_.max_bytes) + " bytes");
    check_depth(extent.depth + above);
  }

  // An index that must be below `end`. HyperShift's library reads it as Go's strconv.Atoi does, and counts a negative
  // one from `end`.
  [[nodiscard]] std::size_t index(const std::string& token, std::size_t end) const {
    std::optional<std::size_t> index = hypershift_ ? go_index(token, end) : parse_index(token);
    if (!index) fail(PatchErrc::bad_index, in_quotes(token) + " is no index of a list");
    if (*index >= end) fail(PatchErrc::bad_index, "index " + token + " is beyond the end of the list");
    return *index;
  }
  static std::optional<std::size_t> go_index(std::string_view token, std::size_t end) {
    std::int64_t number = 0;
    if (!go_number(token, number)) return std::nullopt;
    if (number < 0) number += static_cast<std::int64_t>(end);
    return number < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(number));
  }
  static bool go_number(std::string_view token, std::int64_t& number) {
    if (token.starts_with('+')) {
      token.remove_prefix(1);
      if (token.starts_with('-')) return false;
    }
    const char* const end = token.data() + token.size();
    const auto [stop, error] = std::from_chars(token.data(), end, number);
    return error == std::errc() && stop == end && !token.empty();
  }

  /// The value at one token below `at`. Fails when there is none.
  [[nodiscard]] Json& step(Json& at, const std::string& token) const {
    if (at.is_object()) {
      const auto found = at.find(token);
      if (found == at.end()) fail_missing("there is no member " + in_quotes(token));
      return *found;
    }
    if (!at.is_array()) fail_missing("what is above " + in_quotes(token) + " is neither an object nor a list");
    if (token == "-" && !hypershift_)
      fail(PatchErrc::bad_index, "- is behind the last item of the list, where nothing is");
    return at[index(token, at.size())];
  }
  [[nodiscard]] Json& find(Path path) const {
    Json* at = &document_;
    for (const Token& token : path) at = &step(*at, token.name);
    return *at;
  }

  void add(Path path, Json value) {
    charge(value, path.size());
    if (path.empty()) return replace_document(std::move(value));
    Json& parent = find(path.first(path.size() - 1));
    const std::string& token = path.back().name;
    if (parent.is_object()) {
      parent[token] = std::move(value);
    } else if (!parent.is_array()) {
      fail_missing("what is above " + in_quotes(token) + " is neither an object nor a list");
    } else if (token == "-") {
      parent.push_back(std::move(value));
    } else {
      parent.insert(parent.begin() + static_cast<std::ptrdiff_t>(index(token, parent.size() + 1)), std::move(value));
    }
  }
  void replace(Path path, Json value) {
    charge(value, path.size());
    if (path.empty()) return replace_document(std::move(value));
    find(path) = std::move(value);
  }
  void replace_document(Json value) {
    if (hypershift_ && !value.is_structured())
      fail(PatchErrc::not_allowed, "the whole document can be an object or a list only");
    document_ = std::move(value);
  }
  Json remove(Path path) {
    if (path.empty()) fail(PatchErrc::not_allowed, "the whole document cannot be removed");
    Json& parent = find(path.first(path.size() - 1));
    const std::string& token = path.back().name;
    Json removed = std::exchange(step(parent, token), Json());
    if (parent.is_object())
      parent.erase(token);
    else
      parent.erase(index(token, parent.size()));
    return removed;
  }

  /// What is at `from`.
  [[nodiscard]] const Json& source(const Operation& o) const {
    try {
      return find(o.from);
    } catch (Failure& failure) {
      failure.in_from = true;
      throw;
    }
  }
  void move(const Operation& o) {
    static_cast<void>(source(o));
    // RFC 6902 section 4.4. HyperShift's library removes first and then looks for the new place.
    if (!hypershift_ && o.path_text.starts_with(o.from_text + '/'))
      fail(PatchErrc::not_allowed, "a value cannot be moved into itself");
    if (o.from.empty() && !hypershift_) return;  // onto itself: anywhere else would be inside
    if (o.from.empty()) fail(PatchErrc::not_allowed, "the whole document cannot be moved");
    add(o.path, remove(o.from));
  }

  void test(const Operation& o) const {
    const Json* found = nullptr;
    try {
      found = &find(o.path);
    } catch (const Failure& failure) {
      // HyperShift's library takes a member that is not there for null, where the object is.
      const bool counts_as_null =
          hypershift_ && failure.code == PatchErrc::missing && !o.path.empty() && o.value->is_null();
      if (!counts_as_null || !find(Path(o.path).first(o.path.size() - 1)).is_object()) throw;
      return;
    }
    if (!(hypershift_ ? is_written_alike(*found, *o.value) : *found == *o.value))
      fail(PatchErrc::test_failed, "test failed: the value is another one");
  }
  static bool is_written_alike(const Json& a, const Json& b) {
    if (a.is_number_integer() && b.is_number_integer()) return a == b;  // signed and unsigned
    if (a.type() != b.type() || a.size() != b.size()) return false;
    if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), is_written_alike);
    if (!a.is_object()) return a == b;
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), [](const auto& x, const auto& y) {
      return x.key() == y.key() && is_written_alike(x.value(), y.value());
    });
  }

  // As EnsurePathExistsOnAdd of HyperShift's library: a missing parent becomes a list when the token below it is a
  // number or "-", an object otherwise; what a list lacks up to an index is filled with null. A name with an escape is
  // made as it is written, so that the path then leads nowhere.
  void make_parents(Path path) {
    Json* at = &document_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (Json* const next = existing(*at, path[i].name))
        at = next;
      else
        at = &make(*at, path[i], path[i + 1].name, i + 1);
      if (!at->is_structured())
        fail_missing("what is above " + in_quotes(path[i + 1].name) + " is neither an object nor a list");
    }
  }
  [[nodiscard]] Json* existing(Json& at, const std::string& token) const {
    try {
      Json& found = step(at, token);
      return found.is_null() ? nullptr : &found;
    } catch (const Failure&) {
      return nullptr;
    }
  }
  Json& make(Json& at, const Token& token, const std::string& below, std::size_t depth) {
    if (token.escaped)
      fail_missing("HyperShift does not make a parent whose name has an escape, " + in_quotes(token.name));
    std::int64_t place = 0;
    if (at.is_array() && go_number(token.name, place) && place > 0) pad(at, static_cast<std::size_t>(place));
    std::int64_t first = 0;
    Json made = Json::object();
    if (go_number(below, first) || below == "-") {
      if (first < -1) fail(PatchErrc::bad_index, "index " + below + " is before the beginning of the list");
      made = Json::array();
      pad(made, static_cast<std::size_t>(std::max<std::int64_t>(first, 0)));
    }
    charge(made, depth);
    if (at.is_object()) return at[token.name] = std::move(made);
    if (token.name == "-") fail(PatchErrc::bad_index, "- is behind the last item of the list, where nothing is");
    const std::size_t index = this->index(token.name, at.size() + 1);
    return *at.insert(at.begin() + static_cast<std::ptrdiff_t>(index), std::move(made));
  }
  void pad(Json& list, std::size_t size) {
    if (size > limits_.max_bytes / sizeof(Json))
      fail(PatchErrc::too_large, "index " + std::to_string(size) + " is too large");
    for (std::size_t i = list.size(); i < size; ++i) {
      charge(kSetNull, 0);
      list.push_back(kSetNull);
    }
  }

  Json& document_;
  bool hypershift_;
  const PatchLimits& limits_;
  std::size_t bytes_ = 0;
};

void restore_nulls(Json& value) {
  if (is_set_null(value)) value = nullptr;
  if (value.is_structured()) std::ranges::for_each(value, restore_nulls);
}

PatchError describe(Failure failure, const Operation& o, std::size_t number) {
  PatchError error;
  error.code = failure.code;
  error.operation = number;
  error.op = o.op;
  error.pointer = failure.in_from ? o.from_text : o.path_text;
  error.reason = std::move(failure.reason);
  return error;
}

}  // namespace

Result<Json, PatchError> apply_operations(Json document, const Json& patch, Dialect dialect,
                                          const PatchLimits& limits) {
  const auto operations = read_operations(patch, dialect, limits);
  if (operations.has_error()) return operations.error();
  std::optional<Patcher> patcher;
  try {
    patcher.emplace(document, dialect, limits);
  } catch (Failure& failure) {
    PatchError error;
    error.code = failure.code;
    error.reason = "the document: " + std::move(failure.reason);
    return error;
  }
  for (std::size_t i = 0; i < operations->size(); ++i) {
    try {
      patcher->apply((*operations)[i]);
    } catch (Failure& failure) {
      return describe(std::move(failure), (*operations)[i], i);
    }
  }
  if (dialect == Dialect::hypershift) restore_nulls(document);
  return {boost::system::in_place_value, std::move(document)};
}

Result<Json, PatchError> apply_json_patch(Json document, const Json& patch, const PatchLimits& limits) {
  return apply_operations(std::move(document), patch, Dialect::rfc6902, limits);
}

std::string PatchError::to_string() const {
  std::string text;
  if (operation) {
    text = "operation " + std::to_string(*operation);
    if (!op.empty()) text += " (" + op + (pointer.empty() ? "" : " " + pointer) + ")";
    text += ": ";
  }
  return text + reason;
}

void throw_exception_from_error(const PatchError& error, const boost::source_location&) {
  throw PatchFailure(error);
}

}  // namespace hcpnet::text
