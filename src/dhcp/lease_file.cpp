// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/log.hpp>
#include <iterator>
#include <utility>

#include "dhcp/lease_file_reader.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::pair<LeaseFileFormat, std::string_view> kFormats[] = {{LeaseFileFormat::hcpnet, "hcpnet"},
                                                                     {LeaseFileFormat::isc, "isc"},
                                                                     {LeaseFileFormat::dnsmasq, "dnsmasq"},
                                                                     {LeaseFileFormat::kea, "kea"}};
constexpr std::size_t kMaxFoundBytes = 60;

template <class Map, class List>
void move_by_line(Map& from, List& to) {
  to.reserve(from.size());
  for (auto& [address, listed] : from) to.push_back(std::move(listed));
  from.clear();
  std::ranges::sort(to, {}, [](const auto& listed) { return std::pair(listed.line, IpAddress(listed.lease.address)); });
}

template <class AnyLease>
bool rest_until_its_end(AnyLease& lease) {
  if (lease.state != LeaseState::bound && lease.state != LeaseState::declined) return false;
  lease.state = LeaseState::declined;
  lease.host_name.clear();
  return true;
}

}  // namespace

std::string_view to_string(LeaseFileFormat format) noexcept {
  return std::ranges::find(kFormats, format, [](const auto& f) { return f.first; })->second;
}

std::optional<LeaseFileFormat> parse_lease_file_format(std::string_view name) noexcept {
  const auto found = std::ranges::find(kFormats, name, [](const auto& f) { return f.second; });
  return found == std::end(kFormats) ? std::nullopt : std::optional(found->first);
}

std::size_t LeaseList::keep_only(std::span<const Cidr> networks) {
  const auto is_outside = [&](const auto& listed) {
    return std::ranges::none_of(networks, [&](const Cidr& n) { return n.contains(IpAddress(listed.lease.address)); });
  };
  return std::erase_if(leases, is_outside) + std::erase_if(leases6, is_outside);
}

const dhcp6::Duid& no_duid() {
  static constexpr std::uint8_t kZeros[3] = {};
  static const dhcp6::Duid duid = *dhcp6::make_duid(kZeros);
  return duid;
}

Result<LeaseList, Diagnostics> parse_lease_file(LeaseFileFormat format, const std::string& file, std::string_view text,
                                                const LeaseFileLimits& limits) {
  const bool is_log = format == LeaseFileFormat::isc || format == LeaseFileFormat::kea;
  LeaseListBuilder builder(file, limits,
                           is_log ? LeaseListBuilder::Repeated::replaces : LeaseListBuilder::Repeated::is_error);
  if (text.size() > limits.max_file_bytes) {
    builder.error(0, "lease-file-too-large",
                  "the file has more than " + std::to_string(limits.max_file_bytes) + " bytes");
    return builder.finish();
  }
  switch (format) {
    case LeaseFileFormat::hcpnet:
      read_hcpnet_leases(text, builder);
      break;
    case LeaseFileFormat::isc:
      read_isc_leases(text, builder);
      break;
    case LeaseFileFormat::dnsmasq:
      read_dnsmasq_leases(text, builder);
      break;
    case LeaseFileFormat::kea:
      read_kea_leases(text, builder);
      break;
  }
  return builder.finish();
}

LeaseListBuilder::LeaseListBuilder(const std::string& file, const LeaseFileLimits& limits, Repeated repeated)
    : file_(file), limits_(limits), repeated_(repeated) {}

template <class Map, class Listed>
void LeaseListBuilder::put(Map& map, Listed listed) {
  const std::uint32_t line = listed.line;
  const auto [place, is_new] = map.try_emplace(listed.lease.address, std::move(listed));
  if (!is_new && repeated_ == Repeated::is_error) {
    return error(line, "lease-twice", "the address is in line " + std::to_string(place->second.line) + " already",
                 place->second.lease.address.to_string());
  }
  if (!is_new) place->second = std::move(listed);
  if (leases_.size() + leases6_.size() <= limits_.max_leases || is_full_) return;
  error(line, "lease-file-too-large", "more than " + std::to_string(limits_.max_leases) + " leases");
  is_full_ = true;
}

void LeaseListBuilder::put(Lease lease, std::uint32_t line) {
  put(leases_, ListedLease{std::move(lease), line});
}

void LeaseListBuilder::put(dhcp6::Lease lease, std::uint32_t line) {
  put(leases6_, ListedLease6{std::move(lease), line});
}

const dhcp6::Lease* LeaseListBuilder::find(const Ipv6& address) const {
  const auto found = leases6_.find(address);
  return found == leases6_.end() ? nullptr : &found->second.lease;
}

void LeaseListBuilder::error(std::uint32_t line, const char* code, std::string message, std::string_view found,
                             std::string expected) {
  problems_.add({Severity::error,
                 file_,
                 line,
                 0,
                 {},
                 code,
                 std::move(message),
                 printable(found, kMaxFoundBytes),
                 std::move(expected)});
}

void LeaseListBuilder::warn(std::uint32_t line, const char* code, std::string message, std::string_view found) {
  problems_.add(
      {Severity::warning, file_, line, 0, {}, code, std::move(message), printable(found, kMaxFoundBytes), {}});
}

Result<LeaseList, Diagnostics> LeaseListBuilder::finish() {
  problems_.sort();
  if (problems_.has_errors()) return std::move(problems_);
  LeaseList out{file_, {}, {}, std::move(problems_)};
  move_by_line(leases_, out.leases);
  move_by_line(leases6_, out.leases6);
  return out;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::chrono::sys_seconds lease_time(std::uint64_t seconds) {
  const auto latest = static_cast<std::uint64_t>(kNeverEnds.time_since_epoch().count());
  return std::chrono::sys_seconds(std::chrono::seconds(std::min(seconds, latest)));
}

std::optional<std::string> parse_hex_bytes(std::string_view text, std::size_t max) {
  std::string out;
  while (true) {
    const std::string_view digits = text.substr(0, text.find(':'));
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool is_byte = error == std::errc() && end == digits.data() + digits.size() && digits.size() <= 2;
    if (!is_byte || out.size() == max) return std::nullopt;
    out += static_cast<char>(byte);
    if (digits.size() == text.size()) return out;
    text.remove_prefix(digits.size() + 1);
  }
}

std::string hex_bytes(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 3);
  for (const std::uint8_t byte : as_bytes(bytes)) {
    if (!out.empty()) out += ':';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

bool is_client_mac(const MacAddress& mac) noexcept {
  return (mac.bytes()[0] & 1) == 0 && mac != MacAddress();
}

dhcp6::Client make_client(const dhcp6::Duid& duid, std::uint32_t iaid) {
  return {duid, iaid, duid.link_layer(), {}};
}

bool make_rest(Lease& lease) {
  if (!rest_until_its_end(lease)) return false;
  lease.mac = {};
  lease.client_id.clear();
  return true;
}

bool make_rest(dhcp6::Lease& lease) {
  if (!rest_until_its_end(lease)) return false;
  lease.client = {no_duid(), 0, {}, {}};
  return true;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace hcpnet::dhcp
