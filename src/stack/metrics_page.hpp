// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstdint>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <limits>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace hcpnet {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Values = std::vector<std::pair<Labels, std::uint64_t>>;

/// A page in Prometheus text exposition format 0.0.4. A family without values is left out.
class Page {
 public:
  void counter(const std::string& name, const std::string& help, const Values& values) {
    add(name, help, MetricType::Counter, values);
  }
  void gauge(const std::string& name, const std::string& help, const Values& values) {
    add(name, help, MetricType::Gauge, values);
  }
  struct Histogram {
    Labels labels;
    std::span<const double> bounds;
    std::span<const std::uint64_t> counts;  ///< up to each bound, and beyond the last
    double sum = 0;
  };
  void histogram(const std::string& name, const std::string& help, const std::vector<Histogram>& histograms) {
    if (histograms.empty()) return;
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = MetricType::Histogram;
    for (const Histogram& h : histograms) {
      ClientMetric metric;
      metric.label = h.labels;
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < h.counts.size(); ++i) {
        count += h.counts[i];
        const double bound = i < h.bounds.size() ? h.bounds[i] : std::numeric_limits<double>::infinity();
        metric.histogram.bucket.push_back({count, bound});
      }
      metric.histogram.sample_count = count;
      metric.histogram.sample_sum = h.sum;
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }
  [[nodiscard]] std::string render() const {
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, families_);
    return std::move(text).str();
  }

 private:
  void add(const std::string& name, const std::string& help, MetricType type, const Values& values) {
    if (values.empty()) return;
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    for (const auto& [labels, value] : values) {
      ClientMetric metric;
      metric.label = labels;
      (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = static_cast<double>(value);
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }
  std::vector<MetricFamily> families_;
};

template <class Map>
[[nodiscard]] Values by(const char* label, const Map& map, const Labels& common = {}) {
  Values values;
  for (const auto& [key, value] : map) {
    Labels labels = common;
    labels.push_back({label, key});
    values.emplace_back(std::move(labels), value);
  }
  return values;
}

inline void append(Values& all, Values more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Of every DNS server, by owner: the names that users of CoreDNS know, and ours.
void add_dns(Page& page, const std::map<std::string, dns::ServerStats>& servers);
/// Of every proxy, by owner: the names that users of Envoy know, and ours.
void add_proxies(Page& page, const std::map<std::string, proxy::EngineStats>& proxies);

}  // namespace hcpnet
