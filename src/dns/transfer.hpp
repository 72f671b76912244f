// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/view.hpp>
#include <hcpnet/dns/zone.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dns/query.hpp"

namespace hcpnet::dns {

/// A zone on its way to a secondary: SOA, everything else, SOA (RFC 5936 section 2.2), in messages of at most 16 KiB
/// unless one record needs more. Keeps zone and query; one thread.
class ZoneTransfer {
 public:
  enum class Form : std::uint8_t { whole, soa_only };

  ZoneTransfer(std::shared_ptr<const Zone> zone, ByteView query, Form form);
  ZoneTransfer(const ZoneTransfer&) = delete;
  ZoneTransfer& operator=(const ZoneTransfer&) = delete;

  /// Writes the next message into `out`, which has room for kMaxMessageBytes. Returns its size; 0 after the last.
  [[nodiscard]] std::size_t next(std::span<std::uint8_t> out);

 private:
  std::size_t fill(std::span<std::uint8_t> out);
  [[nodiscard]] bool is_done() const noexcept { return set_ > last_; }
  [[nodiscard]] const RRset& current() const noexcept;
  void advance() noexcept;

  std::shared_ptr<const Zone> zone_;
  std::vector<std::uint8_t> bytes_;
  Query query_;
  std::size_t set_ = 0;     ///< the RRset that is next; one more than there are: the SOA at the end
  std::size_t record_ = 0;  ///< its record that is next
  std::size_t last_;        ///< the last set to send
};

/// Whether the query asks for a transfer, AXFR (RFC 5936) or IXFR (RFC 1995).
[[nodiscard]] bool asks_for_transfer(ByteView query) noexcept;

struct TransferStart {
  Rcode rcode = Rcode::refused;
  std::shared_ptr<ZoneTransfer> transfer;        ///< with Rcode::noerror, over TCP
  FormatError format_error = FormatError::none;  ///< with Rcode::formerr
};
/// Begins the transfer that a client of `view` asks for; it may. IXFR is answered with the whole zone, or with the SOA
/// alone where the client is up to date; over UDP respond_with_soa() is what it gets. NOTAUTH: the name is not the apex
/// of a zone. `owner` keeps the view's zones.
[[nodiscard]] TransferStart start_transfer(ByteView query, Transport transport, const ViewZones& view,
                                           const std::shared_ptr<const void>& owner);
/// The reply to IXFR over UDP: the SOA alone (RFC 1995 section 2), or TC where that is more than the client takes.
/// Returns its size. Precondition: start_transfer() says NOERROR.
[[nodiscard]] std::size_t respond_with_soa(ByteView query, const QueryContext& context,
                                           std::span<std::uint8_t> out) noexcept;

/// The serial in the SOA of a zone.
[[nodiscard]] std::uint32_t serial_of(const Zone& zone) noexcept;
/// RFC 1982 section 3.2: whether `a` comes after `b`.
[[nodiscard]] bool is_later_serial(std::uint32_t a, std::uint32_t b) noexcept;

/// The zone, with an NS record where it has none: secondaries such as BIND load no zone without.
[[nodiscard]] std::shared_ptr<const Zone> with_name_server(const std::shared_ptr<const Zone>& zone);
/// The zone with a serial by which secondaries notice what changed since `before`, which may be null. `before` itself
/// where nothing changed. A serial that somebody chose (not 1) stays if it is later than the one before; otherwise it
/// is `now`, in seconds since 1970, or one more than before if that is later: so it grows over restarts too.
[[nodiscard]] std::shared_ptr<const Zone> with_current_serial(const std::shared_ptr<const Zone>& zone,
                                                              const std::shared_ptr<const Zone>& before,
                                                              std::uint32_t now);

/// The zones of a configuration by view and apex: a hosts file alone may make a hundred thousand.
class ZoneIndex {
 public:
  ZoneIndex() = default;
  explicit ZoneIndex(const Config& config);

  /// Null when there is none.
  [[nodiscard]] std::shared_ptr<const Zone> find(const std::string& view, const Name& apex) const;

 private:
  std::map<std::string, std::unordered_map<Name, std::shared_ptr<const Zone>>> views_;
};
/// Gives what has changed since `before` a later serial, and zones to be transferred what their secondaries insist on.
/// Nothing where no zone is to be transferred. Where it has been done before, on any thread, it is only a look.
void set_serials(Config& config, const ZoneIndex& before, std::uint32_t now);

}  // namespace hcpnet::dns
