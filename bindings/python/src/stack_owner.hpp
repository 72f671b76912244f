// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/stack.hpp>

#include "thread_owner.hpp"

namespace hcpnet::python {

/// A Stack as Python needs it.
class StackOwner : public OwnerOf<Stack> {
 public:
  /// What of Python a stack calls; each may be None.
  struct Functions {
    pybind11::object on_event, log, access_log, resolve;
  };
  StackOwner(StackOptions options, Functions functions);

  void start();
  void stop() override;
  /// Reads files again; other calls are answered meanwhile.
  Result<void, Diagnostics> reload();
};

}  // namespace hcpnet::python
