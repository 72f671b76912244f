// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <hcpnet/stack.hpp>
#include <iostream>
#include <memory>

#include "command.hpp"
#include "logging.hpp"
#include "runtime/error_text.hpp"
#include "service_manager.hpp"
#include "spec/format.hpp"

namespace hcpnet::app {
namespace {

struct Arguments {
  FileArguments files;
  StateArguments state;
  std::vector<std::string> pod_addresses, port_maps;
  std::vector<std::string> only;
  std::string admin_tcp, observe, access_log, log_format = "text", log_level = "info";
  bool no_watch = false, takeover = false;
};

/// What a user wrote on the command line is wrong: exit status 2.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::optional<std::uint16_t> parse_port(std::string_view text, std::uint16_t least) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < least) return std::nullopt;
  return port;
}

void add_port_map(StackOptions& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto configured = parse_port(text.substr(0, equals), 1);
  const auto bound = equals == std::string::npos ? std::nullopt : parse_port(text.substr(equals + 1), 0);
  if (!configured || !bound) throw WrongUse("--map-port: " + text + " is not CONFIGURED=BOUND, such as 53=5353");
  options.port_map[*configured] = *bound;
}

std::optional<Endpoint> endpoint_option(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  // Port 0, which is nowhere else a port, lets the system choose one.
  const bool is_chosen = text.ends_with(":0");
  auto endpoint = parse_endpoint(is_chosen ? text.substr(0, text.size() - 1) + '1' : text);
  if (endpoint && is_chosen) endpoint->port = 0;
  if (!endpoint) throw WrongUse(std::string(option) + ": " + text + " is not ADDRESS:PORT");
  return endpoint;
}

LogLevel parse_level(const std::string& text) {
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warning})
    if (text == to_string(level)) return level;
  return LogLevel::error;
}

/// Every tunnel takes two descriptors; the hard limit is what the administrator meant.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

StackOptions to_options(const Arguments& a) {
  StackOptions options;
  options.files = a.files.files;
  options.observed = a.files.observed;
  options.endpoints = a.files.endpoints;
  options.state_dir = a.state.state_dir;
  for (const std::string& text : a.pod_addresses) {
    const auto address = parse_ip_address(text);
    if (!address || !spec::is_host_address(*address))
      throw WrongUse("--pod-address: " + text + " is not the address of a host");
    if (std::ranges::count(options.pod_addresses, *address) > 0)
      throw WrongUse("--pod-address: " + text + " is given twice");
    options.pod_addresses.push_back(*address);
  }
  for (const std::string& text : a.port_maps) add_port_map(options, text);
  options.admin_socket = a.state.admin_socket();
  options.admin_tcp = endpoint_option("--admin-tcp", a.admin_tcp);
  if (options.admin_tcp && !options.admin_tcp->address.is_loopback())
    throw WrongUse("--admin-tcp: only a loopback address is allowed");
  options.observe = endpoint_option("--observe", a.observe);
  options.watch = !a.no_watch;
  options.handover_socket = a.state.handover_socket();
  options.takes_over = a.takeover;
  options.inherited = std::make_shared<InheritedSockets>();
  options.inherited->add_from_service_manager();
  const auto is_served = [&](const char* part) { return a.only.empty() || std::ranges::count(a.only, part) > 0; };
  options.serve = {.dhcp = is_served("dhcp"), .dns = is_served("dns"), .proxy = is_served("proxy")};
  options.log = make_log_sink(a.log_format == "json", parse_level(a.log_level));
  if (!a.access_log.empty()) options.access_log = make_access_log(a.access_log, options.log);
  return options;
}

constexpr int kEndingSignals[] = {SIGTERM, SIGINT};

class Service {
 public:
  explicit Service(StackOptions options)
      : log_(options.log, "stack"),
        takes_over_(options.takes_over),
        stack_(io_, watched(std::move(options))),
        signals_(io_, SIGHUP) {}

  void run() {
    std::signal(SIGPIPE, SIG_IGN);
    takes_over_ ? end_at_once_by_signals() : catch_signals();
    stack_.start();
    if (takes_over_) catch_signals();
    // The manager watches the predecessor, whose child we may be.
    notify_service_manager(takes_over_ ? "READY=1\nMAINPID=" + std::to_string(::getpid()) : "READY=1");
    wait_for_signal();
    io_.run();
  }

 private:
  StackOptions watched(StackOptions options) {
    options.on_event = [this](const StackEvent& event) {
      if (event.kind == StackEvent::Kind::stopped) io_.stop();
    };
    return options;
  }

  /// The process to take over from may let it wait, and until it serves there is nothing to finish.
  static void end_at_once_by_signals() {
    for (const int number : kEndingSignals) std::signal(number, [](int) { std::_Exit(kGood); });
  }

  void catch_signals() {
    for (const int number : kEndingSignals) signals_.add(number);
  }

  void wait_for_signal() {
    signals_.async_wait([this](boost::system::error_code ec, int signal) {
      if (ec) return;
      log_.info("signal", {{"name", signal == SIGHUP ? "SIGHUP" : signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      if (signal != SIGHUP) return stop();
      notify_reloading();
      stack_.reload([this](const auto&) {  // the outcome is in the log
        if (stack_.is_running()) notify_service_manager("READY=1");
      });
      wait_for_signal();
    });
  }

  void stop() {
    notify_service_manager("STOPPING=1");
    stack_.stop([this] { io_.stop(); });
    wait_for_second_signal();
  }

  /// While tunnels drain another one means: now, within a second. A thread that waits for a file would hold up the end
  /// for as long as the file does not come. There is nothing left that could reload.
  void wait_for_second_signal() {
    signals_.async_wait([this](boost::system::error_code ec, int signal) {
      if (ec) return;
      if (signal == SIGHUP) return wait_for_second_signal();
      std::signal(SIGALRM, [](int) { std::_Exit(kGood); });
      ::alarm(1);
      io_.stop();
    });
  }

  Logger log_;
  bool takes_over_;
  boost::asio::io_context io_{1};
  Stack stack_;
  boost::asio::signal_set signals_;
};

int serve(const Arguments& a) {
  StackOptions options = to_options(a);
  a.state.make_folder();
  raise_descriptor_limit();
  Service(std::move(options)).run();
  return kGood;
}

int serve_with_text_log(const Arguments& a) {
  try {
    return serve(a);
  } catch (const WrongUse& e) {
    std::cerr << "hcpnet: " << e.what() << '\n';
    return kWrongUse;
  } catch (const SpecError& e) {
    print(e.diagnostics());
    return kProblems;
  }
}

/// The last words are lines of the log too: a program reads it.
int serve_with_json_log(const Arguments& a) {
  const Logger log(make_log_sink(true, parse_level(a.log_level)), "stack");
  const auto fail = [&](const std::exception& e, ExitStatus status) {
    log.error("failed", {{"reason", runtime::error_text(e)}});
    return status;
  };
  try {
    return serve(a);
  } catch (const WrongUse& e) {
    return fail(e, kWrongUse);
  } catch (const SpecError& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      if (d.severity == Severity::error)
        log.error("failed", {{"problem", d.to_string()}});
      else
        log.warning("spec", {{"warning", d.to_string()}});
    }
    if (const std::size_t dropped = e.diagnostics().dropped_count(); dropped > 0)
      log.error("there are more problems than are told", {{"dropped", dropped}});
    return kProblems;
  } catch (const std::exception& e) {
    return fail(e, kProblems);
  }
}

}  // namespace

void add_up(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "up", "serve DHCP, DNS and the proxy of a set of files until SIGTERM or SIGINT; SIGHUP reloads");
  a->files.add_to(*command, true);
  a->state.add_to(*command);
  command
      ->add_option("--pod-address", a->pod_addresses,
                   "address on the management side where DNS and proxy listen as well; repeatable")
      ->type_name("ADDRESS")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--map-port", a->port_maps,
                   "bind another port than the configured one, such as 53=5353; 0 lets the system choose; repeatable")
      ->type_name("CONFIGURED=BOUND")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--only", a->only, "serve this part alone, where other processes serve the others; repeatable")
      ->check(CLI::IsMember({"dhcp", "dns", "proxy"}))
      ->type_name("dhcp|dns|proxy")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--admin-tcp", a->admin_tcp, "admin over TCP as well, on a loopback address")
      ->type_name("ADDRESS:PORT");
  command->add_option("--observe", a->observe, "read-only /healthz, /readyz and /metrics; off unless given")
      ->type_name("ADDRESS:PORT");
  command->add_flag("--takeover", a->takeover,
                    "take the sockets over from the process that runs with this state directory, without a gap; it "
                    "ends when its tunnels have; alone where none runs");
  command->add_flag("--no-watch", a->no_watch, "do not reload by itself when a file changes");
  command
      ->add_option(
          "--access-log", a->access_log,
          "file that gets a line for each connection that the proxy served, \"-\" for standard output; without "
          "it these lines are part of the log")
      ->type_name("FILE");
  command->add_option("--log-format", a->log_format, "form of the log on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  command->add_option("--log-level", a->log_level, "least level that is logged")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->type_name("debug|info|warning|error");
  command->callback(
      [a, &status] { status = a->log_format == "json" ? serve_with_json_log(*a) : serve_with_text_log(*a); });
}

}  // namespace hcpnet::app
