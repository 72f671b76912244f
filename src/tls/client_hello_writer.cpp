// SPDX-License-Identifier: Apache-2.0
#include "tls/client_hello_writer.hpp"

#include <array>
#include <functional>
#include <hcpnet/bytes.hpp>

namespace hcpnet::tls {
namespace {

// Numbers: IANA "TLS Parameters" and "TLS ExtensionType Values".
constexpr std::array<std::uint16_t, 7> kCipherSuites{0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030};
constexpr std::array<std::uint16_t, 6> kSignatures{0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0807};
constexpr std::array<std::uint16_t, 3> kGroups{0x001D, 0x0017, 0x0018};
constexpr std::uint16_t kX25519 = 0x001D;

class Writer {
 public:
  explicit Writer(std::span<std::uint8_t> buffer) : out_(buffer) {}

  void u16s(std::span<const std::uint16_t> values) {
    for (const std::uint16_t value : values) out_.u16(value);
  }
  /// What `body` writes, with its length in two bytes before it.
  template <class Body>
  void sized(Body body) {
    const std::size_t at = out_.size();
    out_.u16(0);
    body();
    out_.put_u16(at, static_cast<std::uint16_t>(out_.size() - at - 2));
  }
  template <class Body>
  void extension(std::uint16_t type, Body body) {
    out_.u16(type);
    sized(body);
  }
  ByteWriter& out() { return out_; }

 private:
  ByteWriter out_;
};

void write_extensions(Writer& w, std::string_view server_name, ByteView key_share) {
  if (!server_name.empty()) {
    w.extension(0, [&] {  // server_name, RFC 6066 section 3
      w.sized([&] {
        w.out().u8(0);
        w.sized([&] { w.out().bytes(as_bytes(server_name)); });
      });
    });
  }
  w.extension(10, [&] { w.sized([&] { w.u16s(kGroups); }); });      // supported_groups
  w.extension(13, [&] { w.sized([&] { w.u16s(kSignatures); }); });  // signature_algorithms
  w.extension(43, [&] {                                             // supported_versions
    w.out().u8(4);
    w.out().u16(0x0304);
    w.out().u16(0x0303);
  });
  w.extension(51, [&] {  // key_share
    w.sized([&] {
      w.out().u16(kX25519);
      w.sized([&] { w.out().bytes(key_share); });
    });
  });
}

}  // namespace

// RFC 8446 sections 4.1.2 and 5.1
std::vector<std::uint8_t> make_client_hello(std::string_view server_name, std::span<const std::uint8_t, 64> random) {
  std::array<std::uint8_t, 512> buffer;
  Writer w(buffer);
  w.out().u8(22);  // handshake
  w.out().u16(0x0301);
  w.sized([&] {
    w.out().u8(1);  // client_hello, with a length of three bytes
    w.out().u8(0);
    w.sized([&] {
      w.out().u16(0x0303);
      w.out().bytes(random.first<32>());
      w.out().u8(0);  // no session
      w.sized([&] { w.u16s(kCipherSuites); });
      w.out().u8(1);
      w.out().u8(0);  // no compression
      w.sized([&] { write_extensions(w, server_name.substr(0, 253), random.last<32>()); });
    });
  });
  return {w.out().written().begin(), w.out().written().end()};
}

}  // namespace hcpnet::tls
