// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <cstdint>
#include <hcpnet/text/codes.hpp>
#include <hcpnet/text/to_json.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

class Converter {
 public:
  Converter(std::string_view file, Diagnostics& problems) : file_(file), problems_(problems) {}

  Json convert(const Value& value, const std::string& path) {
    switch (value.type) {
      case ValueType::boolean:
        return value.flag;
      case ValueType::integer:
        return integer(value, path);
      case ValueType::floating:
        return fraction(value, path);
      case ValueType::string:
        return value.text;
      case ValueType::ambiguous:
        return problem(
            value, path,
            "YAML 1.1 and YAML 1.2 read this differently; put text in quotes, and write numbers and booleans plainly");
      case ValueType::list:
        return list(value, path);
      case ValueType::map:
        return map(value, path);
      case ValueType::null:
      case ValueType::invalid:  // already reported
        break;
    }
    return nullptr;
  }

 private:
  Json list(const Value& value, const std::string& path) {
    Json items = Json::array();
    for (const Value& item : value.items) items.push_back(convert(item, child(path, items.size())));
    return items;
  }
  Json map(const Value& value, const std::string& path) {
    Json members = Json::object();
    for (const Member& member : value.members) {
      const std::string member_path = child(path, member.key);
      if (member.key_type != ValueType::string) {
        Value key;
        key.position = member.value.key;
        key.text = member.key;
        problem(key, member_path, "this key is no string to every reader of YAML; put quotes around it");
      }
      members[member.key] = convert(member.value, member_path);
    }
    return members;
  }
  Json integer(const Value& value, const std::string& path) {
    std::string_view text = value.text;
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t number = 0;
    std::uint64_t large = 0;
    if (text.starts_with("0x")) {
      const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), large, 16);
      if (error == std::errc() && end == text.data() + text.size()) return large;
    }
    if (read_number(text, number)) return number;
    if (read_number(text, large)) return large;
    return problem(value, path, "a number of more than 64 bits; put it in quotes if it is text");
  }
  Json fraction(const Value& value, const std::string& path) {
    std::string_view text = value.text;
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    // Infinity and NaN begin with a point and a letter, which from_chars does not take.
    if (read_number(text, number) && std::isfinite(number)) return number;
    return problem(value, path, "a number that JSON cannot hold; put it in quotes if it is text");
  }
  Json problem(const Value& value, const std::string& path, std::string message) {
    Diagnostic d;
    d.file = file_;
    d.line = value.position.line;
    d.column = value.position.column;
    d.path = path;
    d.code = code::wrong_type;
    d.message = std::move(message);
    d.found = value.text.substr(0, 60);
    problems_.add(std::move(d));
    return nullptr;
  }

  std::string file_;
  Diagnostics& problems_;
};

}  // namespace

nlohmann::json to_json(const Value& value, std::string_view file, Diagnostics& problems) {
  return Converter(file, problems).convert(value, "");
}

}  // namespace hcpnet::text
