// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/system_error.hpp>
#include <exception>
#include <string>
#include <utility>

#include "runtime/error_text.hpp"

namespace hcpnet::runtime {

/// What can't be opened, one thing after the other: whoever has to make room hears of all of it at once.
class OpenFailures {
 public:
  /// Does `open`, and keeps the boost::system::system_error that it throws; nothing else is caught.
  template <class Open>
  void attempt(Open open) try {
    open();
  } catch (const boost::system::system_error& error) {
    if (last_) earlier_ += text_ + "; ";
    last_ = std::current_exception();
    code_ = error.code();
    text_ = error_text(error);
  }

  /// Throws what was kept: the one failure as it was, several as one boost::system::system_error that tells each, with
  /// the code of the last.
  void throw_any() const {
    if (!last_) return;
    if (earlier_.empty()) std::rethrow_exception(last_);
    const std::string reason = ": " + code_.message();  // the exception adds it
    std::string text = earlier_ + text_;
    if (text.ends_with(reason)) text.resize(text.size() - reason.size());
    throw boost::system::system_error(code_, text);
  }

 private:
  std::string earlier_, text_;
  boost::system::error_code code_;
  std::exception_ptr last_;
};

}  // namespace hcpnet::runtime
