// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <hcpnet/inherited_sockets.hpp>

namespace hcpnet {

/// Closes a socket of which another process may hold a copy. Asio's close() leaves it to the kernel to forget the
/// socket's events, which happens only with the last copy: they would go on arriving here, for an object that is gone.
template <class Socket>
void close_shared(Socket& socket) {
  boost::system::error_code ignored;
  const FileDescriptor closed_here(socket.release(ignored));
}

}  // namespace hcpnet
