// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/inherited_sockets.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet {

/// The successor's side of a handover (stack/handover_wire.hpp). Waits for each answer, for kPatience at most. When the
/// predecessor dies midway, what is left is done without it; when it refuses, a std::runtime_error says why. Destroyed
/// before finish(), it leaves everything to the predecessor.
class Takeover {
 public:
  static constexpr std::chrono::seconds kPatience{35};  ///< a little more than the predecessor's

  /// nullopt: nobody answers there. Throws boost::system::system_error for other failures.
  [[nodiscard]] static std::optional<Takeover> connect(const std::string& path);

  /// Copies of all that listens. The predecessor goes on serving.
  void receive_sockets(InheritedSockets& sockets);
  /// From here on DHCP's store and the admin sockets are free, until this is destroyed or finished.
  void ask_release();
  /// From here on the predecessor accepts nothing.
  void finish();

 private:
  explicit Takeover(FileDescriptor connection);
  /// nullopt: it is gone.
  [[nodiscard]] std::optional<std::string> ask(std::string_view question, FileDescriptor* socket = nullptr);

  void wait_for_its_end() const;

  FileDescriptor connection_;
  FileDescriptor process_;  ///< the predecessor (pidfd_open(2)); absent where the kernel can't tell, or it is ourselves
};

}  // namespace hcpnet
