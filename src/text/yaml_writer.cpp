// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/assert.hpp>
#include <charconv>
#include <cmath>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "text/yaml_string.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kIndent = 2;
// YAML 1.1 and 1.2 both end a key at 1,024 characters unless "?" announces it; counted in bytes, quotes included.
constexpr std::size_t kMaxKeyBytes = 1'000;

constexpr std::array<std::string_view, 7> kFirst{"apiVersion", "kind", "metadata", "name", "namespace", "spec", "data"};
constexpr std::string_view kLast = "status";

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void document(const Json& value) {
    if (value.is_object() && !value.empty()) {
      members(value, 0, false);
    } else if (value.is_array() && !value.empty()) {
      items(value, 0, false);
    } else if (value.is_string()) {
      // Not as a literal: readers disagree about the indentation indicator of one that has no parent.
      const std::string& text = value.get_ref<const std::string&>();
      append_yaml_string(out_, text, choose_yaml_style(text, true));
      out_ += '\n';
    } else {
      scalar(value, 0);
    }
  }

 private:
  void deeper() {
    if (++depth_ > kMaxYamlDepth) throw std::invalid_argument("nested too deep for YAML");
  }

  // `begun`: the first entry continues a line that "- " began.
  void members(const Json& object, std::size_t indent, bool begun) {
    deeper();
    // Looked for once: what is written first or last is then known by its place in memory.
    std::array<const Json::object_t::value_type*, kFirst.size() + 1> placed{};
    const auto& all = object.get_ref<const Json::object_t&>();
    for (const auto& entry : all)
      if (const std::size_t rank = rank_of(entry.first); rank < placed.size()) placed[rank] = &entry;
    const auto write = [&](const Json::object_t::value_type* entry) {
      if (entry == nullptr) return;
      if (!begun) out_.append(indent, ' ');
      begun = false;
      member(entry->first, entry->second, indent);
    };
    for (std::size_t rank = 0; rank < kFirst.size(); ++rank) write(placed[rank]);
    for (const auto& entry : all)
      if (std::ranges::find(placed, &entry) == placed.end()) write(&entry);
    write(placed.back());
    --depth_;
  }
  // Its place in kFirst, kFirst.size() for kLast, more for all others.
  static std::size_t rank_of(std::string_view key) {
    if (key == kLast) return kFirst.size();
    const auto found = std::ranges::find(kFirst, key);
    return found != kFirst.end() ? static_cast<std::size_t>(found - kFirst.begin()) : kFirst.size() + 1;
  }

  void member(const std::string& key, const Json& value, std::size_t indent) {
    const std::size_t begin = out_.size();
    append_yaml_string(out_, key, choose_yaml_style(key, true));
    if (out_.size() - begin > kMaxKeyBytes) {
      out_.insert(begin, "? ");
      out_ += '\n';
      out_.append(indent, ' ');
    }
    out_ += ':';
    if (value.is_object() && !value.empty()) {
      out_ += '\n';
      members(value, indent + kIndent, false);
    } else if (value.is_array() && !value.empty()) {
      out_ += '\n';
      items(value, indent, false);
    } else {
      out_ += ' ';
      scalar(value, indent);
    }
  }

  void items(const Json& list, std::size_t indent, bool begun) {
    deeper();
    for (const Json& item : list) {
      if (!begun) out_.append(indent, ' ');
      begun = false;
      out_ += "- ";
      if (item.is_object() && !item.empty())
        members(item, indent + kIndent, true);
      else if (item.is_array() && !item.empty())
        items(item, indent + kIndent, true);
      else
        scalar(item, indent);
    }
    --depth_;
  }

  // Ends the line. `indent` is that of the parent, from which a literal counts.
  void scalar(const Json& value, std::size_t indent) {
    switch (value.type()) {
      case Json::value_t::string:
        return string(value.get_ref<const std::string&>(), indent);
      case Json::value_t::boolean:
        out_ += value.get<bool>() ? "true" : "false";
        break;
      case Json::value_t::number_integer:
        number(value.get<Json::number_integer_t>());
        break;
      case Json::value_t::number_unsigned:
        number(value.get<Json::number_unsigned_t>());
        break;
      case Json::value_t::number_float:
        fraction(value.get<double>());
        break;
      case Json::value_t::object:
        out_ += "{}";
        break;
      case Json::value_t::array:
        out_ += "[]";
        break;
      default:
        BOOST_ASSERT(value.is_null());
        out_ += "null";
    }
    out_ += '\n';
  }

  void string(std::string_view text, std::size_t indent) {
    const YamlStyle style = choose_yaml_style(text, false);
    if (style == YamlStyle::literal) return literal(text, indent + kIndent);
    append_yaml_string(out_, text, style);
    out_ += '\n';
  }

  // YAML 1.2 section 8.1: an indicator where the first line would mislead about the indentation, and what becomes of
  // the line ends at the end: "-" none, nothing one, "+" all.
  void literal(std::string_view text, std::size_t indent) {
    out_ += '|';
    if (text.front() == ' ' || text.front() == '\t' || text.front() == '\n') out_ += static_cast<char>('0' + kIndent);
    if (text.back() != '\n')
      out_ += '-';
    else if (text.ends_with("\n\n"))
      out_ += '+';
    out_ += '\n';
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out_.append(indent, ' ').append(text.substr(0, end));
      out_ += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  template <class Integer>
  void number(Integer value) {
    std::array<char, 24> digits{};
    out_.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
  }
  // The shortest digits that read back to the same value. YAML 1.1 knows a fraction by its point.
  void fraction(double value) {
    if (!std::isfinite(value)) {
      out_ += std::isnan(value) ? ".nan" : value < 0 ? "-.inf" : ".inf";
      return;
    }
    std::array<char, 32> digits{};
    const std::string_view text(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
    const std::size_t mantissa = std::min(text.find('e'), text.size());
    out_ += text.substr(0, mantissa);
    if (text.substr(0, mantissa).find('.') == std::string_view::npos) out_ += ".0";
    out_ += text.substr(mantissa);
  }

  std::string& out_;
  std::size_t depth_ = 0;
};

}  // namespace

void append_yaml(std::string& out, const nlohmann::json& document) {
  const std::size_t before = out.size();
  try {
    Writer(out).document(document);
  } catch (...) {
    out.resize(before);
    throw;
  }
}

std::string render_yaml(const nlohmann::json& document) {
  std::string out;
  append_yaml(out, document);
  return out;
}

std::string render_yaml_documents(std::span<const nlohmann::json> documents) {
  std::string out;
  for (const nlohmann::json& document : documents) {
    if (&document != documents.data()) out += "---\n";
    append_yaml(out, document);
  }
  return out;
}

}  // namespace hcpnet::text
