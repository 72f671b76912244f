// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/codes.hpp>
#include <map>
#include <string>

#include "spec/observed_objects.hpp"

namespace hcpnet::spec {

/// Things of which each belongs to one owner. Objects come in the order of precedence, so the first claim wins.
template <class Thing>
class Claims {
 public:
  /// `loss`: what becomes of an owner that comes too late.
  Claims(Diagnostics& warnings, const char* what, const char* loss = "goes without it")
      : warnings_(warnings), what_(what), loss_(loss) {}
  /// True when `thing` belongs to `owner`; warns when it belongs to another.
  bool claim(const Thing& thing, const std::string& owner, const std::string& text, const ObservedObject& object,
             std::string_view pointer) {
    const auto [first, is_new] = owners_.emplace(thing, owner);
    if (is_new || first->second == owner) return true;
    tell(first->second, owner, text, object, pointer);
    return false;
  }

 protected:
  void tell(const std::string& winner, const std::string& loser, const std::string& text, const ObservedObject& object,
            std::string_view pointer) {
    warnings_.add(object.warning(
        code::claim_lost, pointer,
        std::string(what_) + ' ' + text + " belongs to " + winner + ", which is older; " + loser + ' ' + loss_));
  }
  std::map<Thing, std::string> owners_;

 private:
  Diagnostics& warnings_;
  const char* what_;
  const char* loss_;
};

}  // namespace hcpnet::spec
