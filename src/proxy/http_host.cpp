// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/http_host.hpp>

namespace hcpnet::proxy {
namespace {

constexpr error_code kGood{};

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
// RFC 9110 section 5.6.2
bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}
char folded(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool equals_folded(std::string_view text, std::string_view lower) noexcept {
  return std::ranges::equal(text, lower, {}, folded);
}
std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// RFC 3986 section 3.2: host [ ":" port ]; what kind of host it is, is judged elsewhere.
std::optional<std::string> host_of(std::string_view authority) {
  std::string_view host, rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(0, end + 1);
    rest = authority.substr(end + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    rest = authority.substr(host.size());
  }
  if (!rest.empty() && (!rest.starts_with(':') || !std::ranges::all_of(rest.substr(1), is_digit))) return std::nullopt;
  return std::string(host);
}

// RFC 3986 section 3.1
bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

/// The authority of "http://authority/..." (absolute form); nullopt for the other forms.
std::optional<std::string_view> authority_of(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos || !is_scheme(target.substr(0, scheme))) return std::nullopt;
  target.remove_prefix(scheme + 3);
  return target.substr(0, target.find_first_of("/?#"));
}

bool is_method_start(char c) noexcept {
  return is_token({&c, 1});
}

}  // namespace

Result<HttpHost> HttpHostReader::read(ByteView received) {
  const std::string_view text = as_text(received).substr(0, limits_.max_bytes);
  if (text.size() < scanned_) return make_error_code(Errc::malformed);  // fewer bytes than before
  if (!has_request_line_ && !text.empty() && !is_method_start(text[0]) && text[0] != '\r')
    return make_error_code(Errc::other_protocol);
  while (!has_end_) {
    const std::size_t end = text.find('\n', scanned_);
    if (end == std::string_view::npos) {
      scanned_ = text.size();
      return make_error_code(text.size() < limits_.max_bytes ? Errc::need_more : Errc::too_large);
    }
    if (end == line_ || text[end - 1] != '\r') return make_error_code(Errc::malformed);
    const std::string_view line = text.substr(line_, end - 1 - line_);
    const bool is_first = line_ == 0;
    line_ = scanned_ = end + 1;
    if (line.empty() && is_first) continue;  // RFC 9112 section 2.2: one empty line before the request does no harm
    if (const error_code ec = read_line(line)) return ec;
  }
  return finish();
}

error_code HttpHostReader::read_line(std::string_view line) {
  // RFC 9112 section 2.2: a CR that ends no line, and RFC 9110 section 5.5: NUL.
  if (line.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos) return Errc::malformed;
  if (!has_request_line_) return read_request_line(line);
  if (!line.empty()) return read_field(line);
  has_end_ = true;
  return kGood;
}

// method SP request-target SP "HTTP/1." DIGIT
error_code HttpHostReader::read_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || !is_token(line.substr(0, first))) return Errc::other_protocol;
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) return Errc::other_protocol;
  if (version.size() != 8 || version[6] != '.' || !is_digit(version[5]) || !is_digit(version[7]) || first == last)
    return Errc::malformed;
  if (version[5] != '1') return Errc::other_protocol;
  is_http_10_ = version[7] == '0';
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  if (target.empty() || target.find_first_of(" \t") != std::string_view::npos) return Errc::malformed;
  const auto authority = method == "CONNECT" ? std::optional(target) : authority_of(target);
  // RFC 9112 section 3.2: a target that names no host is a path, or "*".
  if (!authority && !target.starts_with('/') && target != "*") return Errc::malformed;
  if (authority) {
    target_host_ = host_of(*authority);
    // RFC 9110 section 4.2.1: nor is it an authority without a host.
    if (!target_host_ || target_host_->empty() || authority->find('@') != std::string_view::npos)
      return Errc::malformed;
  }
  has_request_line_ = true;
  return kGood;
}

// field-name ":" OWS field-value OWS
error_code HttpHostReader::read_field(std::string_view line) {
  if (++fields_ > limits_.max_fields) return Errc::too_large;
  const std::size_t colon = line.find(':');
  // A folded line begins with a blank, which no name can have.
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return Errc::malformed;
  if (!equals_folded(line.substr(0, colon), "host")) return kGood;
  if (host_field_) return Errc::malformed;
  host_field_ = host_of(trimmed(line.substr(colon + 1)));
  return host_field_ ? kGood : make_error_code(Errc::malformed);
}

Result<HttpHost> HttpHostReader::finish() const {
  if (!host_field_ && !is_http_10_) return make_error_code(Errc::malformed);
  const auto& host = target_host_ ? target_host_ : host_field_;
  if (!host || host->empty()) return HttpHost{};
  return HttpHost{host};
}

Result<HttpHost> parse_http_host(ByteView received, const HttpHostLimits& limits) {
  return HttpHostReader(limits).read(received);
}

}  // namespace hcpnet::proxy
