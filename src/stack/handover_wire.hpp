// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/inherited_sockets.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What two processes say when one takes over from the other, packet by packet over a unix socket (SOCK_SEQPACKET):
///
///     successor                     predecessor
///     "take 1"                  ->
///     "next"                    ->
///                               <-  "socket stream 192.0.2.1:443", with the socket; so on until
///                               <-  "all"
///     "release"                 ->                         now all is bound but what one process alone can have
///                               <-  "released"             DHCP's store and the admin sockets
///     "serving"                 ->                         nothing can fail any more
///                               <-  "yours"                and accepts no more
///
/// "refused REASON" may stand for any answer. Who sees the other go before "serving" carries on alone.
namespace hcpnet::handover {

inline constexpr std::string_view kTake = "take 1";
inline constexpr std::string_view kNext = "next";
inline constexpr std::string_view kAll = "all";
inline constexpr std::string_view kRelease = "release";
inline constexpr std::string_view kReleased = "released";
inline constexpr std::string_view kServing = "serving";
inline constexpr std::string_view kYours = "yours";
inline constexpr std::string_view kRefused = "refused ";

struct Packet {
  std::string text;
  FileDescriptor socket;  ///< that came with it
};

/// False: it could not be sent.
[[nodiscard]] bool send(int connection, std::string_view text, int socket = -1) noexcept;
/// nullopt: the other has gone, or time is up.
[[nodiscard]] std::optional<Packet> receive(int connection);
/// The other end runs as the same user as we do.
[[nodiscard]] bool is_same_user(int connection) noexcept;

[[nodiscard]] std::string describe(SocketKind kind, const Endpoint& configured);
struct Described {
  SocketKind kind;
  Endpoint configured;
};
/// The inverse of describe(); nullopt: something else.
[[nodiscard]] std::optional<Described> parse_description(std::string_view text);

/// A unix socket of this kind. Throws boost::system::system_error.
[[nodiscard]] FileDescriptor make_socket();
enum class Verb : std::uint8_t { bind, connect };
/// As the system call: 0, or -1 with errno. Throws boost::system::system_error when the path is too long.
[[nodiscard]] int call(Verb verb, int socket, const std::string& path);

}  // namespace hcpnet::handover
