// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/server_id.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace hcpnet::dhcp6 {
namespace {

[[noreturn]] void raise(const std::string& what) {
  throw boost::system::system_error(errno, boost::system::system_category(), "dhcpv6: " + what);
}

Duid make_server_id() {
  std::array<std::uint8_t, 18> bytes{0, 4};  // DUID-UUID
  if (::getrandom(bytes.data() + 2, bytes.size() - 2, 0) != static_cast<ssize_t>(bytes.size() - 2)) {
    raise("no random numbers");
  }
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x0F) | 0x40);  // RFC 9562 section 5.4: version and variant
  bytes[10] = static_cast<std::uint8_t>((bytes[10] & 0x3F) | 0x80);
  return *make_duid(bytes);
}

void sync(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) raise("cannot open " + path);
  const int result = ::fsync(fd);
  ::close(fd);
  if (result != 0) raise("cannot sync " + path);
}

/// The file gets its name when it is complete and synced.
void store(const std::string& path, const Duid& id) {
  const std::string unfinished = path + ".new";
  {
    std::ofstream out(unfinished, std::ios::trunc);
    out << id.to_string() << '\n';
    out.flush();
    if (!out) raise("cannot write " + unfinished);
  }
  sync(unfinished, O_RDONLY);
  std::filesystem::rename(unfinished, path);
  sync(std::filesystem::absolute(path).parent_path().string(), O_RDONLY | O_DIRECTORY);
}

}  // namespace

Duid load_server_id(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    const Duid id = make_server_id();
    store(path, id);
    return id;
  }
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  const auto id = parse_duid(text);
  if (!id) {
    throw std::runtime_error("the file " + path +
                             " holds no DUID: restore it, or remove it and let clients find the server anew");
  }
  return *id;
}

}  // namespace hcpnet::dhcp6
