// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <hcpnet/stack.hpp>

// Links everything of the library: a set without objects is refused with a reason.
int main() {
  hcpnet::StackOptions options;
  options.texts = {{"set.yaml", "kind: Infra\n"}};
  hcpnet::Stack stack(std::move(options));
  try {
    stack.start();
  } catch (const hcpnet::SpecError& error) {
    std::puts(error.what());
    return error.diagnostics().has_errors() ? 0 : 1;
  }
  return 1;
}
