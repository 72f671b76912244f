// SPDX-License-Identifier: Apache-2.0
#include "dhcp/sqlite.hpp"

namespace hcpnet::dhcp::sqlite {
namespace {

[[noreturn]] void raise(sqlite3* connection) {
  throw Error(sqlite3_extended_errcode(connection), sqlite3_errmsg(connection));
}

}  // namespace

Statement::Statement(sqlite3* connection, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) raise(connection);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) raise(sqlite3_db_handle(statement_.get()));
}

void Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::bind(int index, ByteView blob) {
  // A null pointer would bind NULL, which an empty view may hold.
  const void* data = blob.empty() ? static_cast<const void*>("") : blob.data();
  check(sqlite3_bind_blob64(statement_.get(), index, data, blob.size(), SQLITE_STATIC));
}

void Statement::bind_text(int index, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) raise(sqlite3_db_handle(statement_.get()));
  return false;
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_.get());
}

bool Statement::is_integer(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

ByteView Statement::blob(int column) const noexcept {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)};
}

Connection::Connection(const std::string& path, Mode mode) {
  sqlite3* connection = nullptr;
  const int access = mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(path.c_str(), &connection, access | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (connection == nullptr) throw Error(SQLITE_NOMEM, "out of memory");
  if (code != SQLITE_OK) raise(connection);
  sqlite3_extended_result_codes(connection, 1);
}

void Connection::run(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) raise(connection_.get());
}

std::int64_t Connection::read_integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Connection::read_text(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.text(0) : std::string();
}

bool Connection::has_lost_file() const noexcept {
  int has_moved = 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return has_moved != 0;
}

}  // namespace hcpnet::dhcp::sqlite
