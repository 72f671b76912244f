// SPDX-License-Identifier: Apache-2.0
#include "dns/resolv_conf_file.hpp"

#include <sys/stat.h>

#include <fstream>

#include "dns/resolv_conf.hpp"

namespace hcpnet::dns {

const std::vector<Endpoint>& ResolvConfFile::servers(Clock::SteadyTime now) {
  if (checked_ && now < *checked_ + kCheckInterval) return servers_;
  checked_ = now;
  const auto signature = sign();
  if (signature && signature != signature_ && read()) signature_ = signature;
  return servers_;
}

std::optional<ResolvConfFile::Signature> ResolvConfFile::sign() const {
  struct stat status{};
  // To open a FIFO would wait for whoever writes into it, and nobody would be answered meanwhile.
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return Signature(status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
}

bool ResolvConfFile::read() {
  std::ifstream file(path_, std::ios::binary);
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return false;
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.peek() != std::ifstream::traits_type::eof())
    log_.warning("resolv.conf is too long: its end is not read", {{"file", path_}});
  std::vector<std::string> left_out;
  servers_ = parse_resolv_conf(text, &left_out);
  for (const std::string& word : left_out)
    log_.warning("name server of resolv.conf is left out", {{"file", path_}, {"name_server", printable(word)}});
  return true;
}

}  // namespace hcpnet::dns
