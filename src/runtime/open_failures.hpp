// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/system_error.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/error_text.hpp"

namespace hcpnet::runtime {

/// What can't be opened, one thing after the other: whoever has to make room hears of all of it at once.
class OpenFailures {
 public:
  /// Does `open`, and keeps the std::runtime_error that it throws; nothing else is caught.
  template <class Open>
  void attempt(Open open) {
    try {
      open();
    } catch (const boost::system::system_error& error) {
      last_ = std::current_exception();
      code_ = error.code();
      texts_.push_back(error_text(error));
    } catch (const std::runtime_error& error) {
      last_ = std::current_exception();
      texts_.insert(texts_.begin(), error.what());  // the end is for what has a code
    }
  }

  /// Throws what was kept: a failure alone as it was, several as one exception that tells each. That is a
  /// boost::system::system_error with the code of the last one that has a code, where any has.
  void throw_any() const {
    if (texts_.empty()) return;
    if (texts_.size() == 1) std::rethrow_exception(last_);
    std::string all;
    for (const std::string& text : texts_) all += (all.empty() ? "" : "; ") + text;
    if (!code_) throw std::runtime_error(all);
    const std::string reason = ": " + code_.message();  // the exception adds it
    if (all.ends_with(reason)) all.resize(all.size() - reason.size());
    throw boost::system::system_error(code_, all);
  }

 private:
  std::vector<std::string> texts_;
  boost::system::error_code code_;
  std::exception_ptr last_;
};

}  // namespace hcpnet::runtime
