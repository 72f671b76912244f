// SPDX-License-Identifier: Apache-2.0
#include "spec/names.hpp"
#include <algorithm>
#include <hcpnet/net.hpp>
#include <numeric>
#include <utility>

#include "spec/format.hpp"

namespace hcpnet::spec {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) noexcept {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}
bool is_alphanumeric(char c) noexcept {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

std::string describe(char c) {
  if (c == ' ') return "a blank";
  if (c == '_') return "an underscore";
  if (c == '/') return "a slash";
  if (c == ':') return "a colon";
  if (c == '@') return "an at sign";
  if (c == '*') return "an asterisk";
  if (static_cast<unsigned char>(c) >= 0x80) return "a letter beyond ASCII (write the xn-- form)";
  return static_cast<unsigned char>(c) < 0x20 ? "a control character" : std::string("the character ") + c;
}

std::optional<std::string> label_problem(std::string_view label, bool any_case, const char* what,
                                         std::size_t max_bytes = kMaxLabelBytes) {
  if (label.empty()) return std::string(what) + " is empty";
  for (const char c : label) {
    if (is_alphanumeric(c) ? any_case || is_lower(c) : c == '-') continue;
    if (is_alphanumeric(c)) return "only lower-case letters, digits and hyphens may stand here";
    return describe(c) + " has no place here";
  }
  if (label.front() == '-' || label.back() == '-') return std::string(what) + " begins and ends with a letter or digit";
  if (label.size() > max_bytes)
    return std::string(what) + " has " + std::to_string(label.size()) + " characters; 63 are allowed";
  return {};
}

/// What Kubernetes takes as the value of a label, and behind the slash of its key.
std::optional<std::string> label_text_problem(std::string_view text, const char* what) {
  for (const char c : text)
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') return describe(c) + " has no place here";
  if (!text.empty() && !(is_alphanumeric(text.front()) && is_alphanumeric(text.back())))
    return std::string(what) + " begins and ends with a letter or digit";
  if (text.size() > kMaxLabelBytes)
    return std::string(what) + " has " + std::to_string(text.size()) + " characters; 63 are allowed";
  return {};
}

template <class Visit>
std::optional<std::string> for_each_label(std::string_view name, Visit visit) {
  for (;;) {
    const std::size_t dot = name.find('.');
    if (auto problem = visit(name.substr(0, dot))) return problem;
    if (dot == std::string_view::npos) return {};
    name.remove_prefix(dot + 1);
  }
}

// Letters to insert, drop, replace or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last.back();
}

}  // namespace

std::optional<std::string> label_problem(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return "a single label is needed, without dots";
  return label_problem(text, false, "the name");
}

std::optional<std::string> object_name_problem(std::string_view text) {
  if (text.empty()) return "the name is empty";
  if (text.size() > kMaxNameBytes)
    return "the name has " + std::to_string(text.size()) + " characters; 253 are allowed";
  // RFC 1123 subdomain as Kubernetes has it: only the whole has a limit, its labels have none.
  return for_each_label(
      text, [](std::string_view label) { return label_problem(label, false, "a part of the name", kMaxNameBytes); });
}

std::optional<std::string> host_name_problem(std::string_view text, HostForm form) {
  if (text.empty()) return "a host name is not empty";
  if (parse_ip_address(text)) return "an address is no host name";
  if (text.starts_with("*")) {
    if (form != HostForm::wildcard_too) return "a definite name is needed; a wildcard has no place here";
    if (!text.starts_with("*.") || text.size() == 2) return "a wildcard is \"*.\" and the domain behind it";
    if (text.size() > kMaxNameBytes)
      return "the name has " + std::to_string(text.size()) + " characters; 253 are allowed";
    text.remove_prefix(2);
    if (parse_ip_address(text)) return "an address is no host name";
  }
  if (text.ends_with('.')) return "no dot at the end: the name is absolute as it is";
  const auto problem = for_each_label(text, [&](std::string_view label) {
    if (label.find('*') != std::string_view::npos)
      return std::optional<std::string>("a wildcard is the whole first label, and there only");
    return label_problem(label, form != HostForm::lower_domain, "a label");
  });
  if (problem) return problem;
  if (text.size() > kMaxNameBytes)
    return "the name has " + std::to_string(text.size()) + " characters; 253 are allowed";
  if (std::ranges::all_of(text.substr(text.rfind('.') + 1), is_digit))
    return "a last label of digits only reads as part of an address";
  if (form == HostForm::lower_domain && text.find('.') == std::string_view::npos)
    return "this domain has two labels at least";
  return {};
}

std::optional<std::string> published_host_problem(std::string_view text) {
  if (auto problem = host_name_problem(text, HostForm::exact)) return problem;
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return "HyperShift publishes under names of two labels at least";
  const std::string_view last = text.substr(dot + 1);
  const auto is_letter = [](char c) { return is_alphanumeric(c) && !is_digit(c); };
  if (last.size() < 2 || !std::ranges::all_of(last, is_letter))
    return "HyperShift takes a name only when its last label has letters alone, two at least";
  return {};
}

std::optional<std::string> label_key_problem(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    if (auto problem = object_name_problem(key.substr(0, slash))) return "of the key's domain: " + *problem;
    key.remove_prefix(slash + 1);
  }
  if (key.empty()) return "the name of the key is empty";
  return label_text_problem(key, "the name of the key");
}

std::optional<std::string> label_value_problem(std::string_view value) {
  return label_text_problem(value, "the value of a label");
}

bool is_at_or_below(std::string_view name, std::string_view domain) {
  if (name.size() == domain.size()) return name == domain;
  return name.size() > domain.size() && name.ends_with(domain) && name[name.size() - domain.size() - 1] == '.';
}

std::string_view nearest(std::string_view typed, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongestTyped = 64;
  if (typed.size() > kLongestTyped) return {};
  std::string_view best;
  std::size_t best_distance =
      std::max<std::size_t>(1, typed.size() / 3);  // a third of the letters wrong: nobody meant that
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(lower(typed), lower(name));
    if (distance < best_distance || (distance == best_distance && best.empty())) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string control_plane_namespace(std::string_view namespace_, std::string_view name) {
  std::string result = std::string(namespace_) + '-' + std::string(name);
  std::ranges::replace(result, '.', '-');
  return result;
}

}  // namespace hcpnet::spec
