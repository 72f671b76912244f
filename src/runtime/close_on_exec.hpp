// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>

namespace hcpnet {

/// A program that this process starts does not get the socket, as Asio would have it: it would keep the port, and the
/// peer would not see our end of the connection.
template <class Socket>
void close_on_exec(Socket& socket) noexcept {
  static_cast<void>(::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC));
}

}  // namespace hcpnet
