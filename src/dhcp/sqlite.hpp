// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hcpnet::dhcp::sqlite {

/// What SQLite said, with its extended result code.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int primary_code() const noexcept { return code_ & 0xFF; }

 private:
  int code_;
};

struct Close {
  void operator()(sqlite3* connection) const noexcept { sqlite3_close(connection); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

/// A prepared statement. Members throw Error.
class Statement {
 public:
  Statement(sqlite3* connection, std::string_view sql);

  void bind(int index, std::int64_t value);
  /// The bytes must stay as they are until the next reset().
  void bind(int index, ByteView blob);
  void bind_text(int index, std::string_view text);
  /// True for a row, false at the end.
  bool step();
  void reset() noexcept;

  [[nodiscard]] bool is_integer(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  /// Valid until the next step() or reset().
  [[nodiscard]] ByteView blob(int column) const noexcept;
  [[nodiscard]] std::string text(int column) const { return std::string(as_text(blob(column))); }

 private:
  void check(int code) const;
  std::unique_ptr<sqlite3_stmt, Close> statement_;
};

/// A connection, used by one thread at a time. Members throw Error.
class Connection {
 public:
  enum class Mode : std::uint8_t { read, write };
  /// Opens an existing file, for reading and writing or for reading alone.
  explicit Connection(const std::string& path, Mode mode = Mode::write);

  void run(const std::string& sql);
  [[nodiscard]] Statement prepare(std::string_view sql) { return {connection_.get(), sql}; }
  /// The first column of the first row.
  [[nodiscard]] std::int64_t read_integer(std::string_view sql);
  [[nodiscard]] std::string read_text(std::string_view sql);
  /// Whether the file was removed or replaced since: what is written now nobody will read.
  [[nodiscard]] bool has_lost_file() const noexcept;
  [[nodiscard]] bool is_in_transaction() const noexcept { return sqlite3_get_autocommit(connection_.get()) == 0; }

 private:
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace hcpnet::dhcp::sqlite
