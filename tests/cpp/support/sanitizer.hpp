// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HCPNET_TEST_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HCPNET_TEST_SANITIZER 1
#endif
#endif

namespace hcpnet::test {

/// Everything takes many times as long, so that a share of the processor says nothing.
#ifdef HCPNET_TEST_SANITIZER
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace hcpnet::test
