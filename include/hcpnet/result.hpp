// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace hcpnet {

using error_code = boost::system::error_code;

/// A value, or the reason why there is none. Test it before `*r` (unchecked in release builds), or use `.value()`,
/// which throws.
template <class T, class E = error_code>
using Result = boost::system::result<T, E>;

}  // namespace hcpnet
