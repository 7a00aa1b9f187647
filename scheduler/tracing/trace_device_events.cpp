#include "scheduler/tracing/trace_device_events.hpp"

#include <algorithm>

#include "scheduler/tracing/trace_event.hpp"

namespace tessera::detail {
namespace {

/// Lanes of a device: its own, then those of its streams.
constexpr std::int32_t kLanesOfDevice = 1000;

std::int32_t laneOf(std::int32_t device) {
  return static_cast<std::int32_t>(TraceLane::Devices) + device * kLanesOfDevice;
}

std::int32_t laneOf(const DeviceSpan& span) {
  return laneOf(span.device) + 1 + std::min(span.stream, kLanesOfDevice - 2);
}

}  // namespace

std::string deviceLaneName(std::int32_t lane) {
  const std::int32_t number = lane - static_cast<std::int32_t>(TraceLane::Devices);
  const std::string device = "device " + std::to_string(number / kLanesOfDevice);
  const std::int32_t place = number % kLanesOfDevice;
  return place == 0 ? device : device + " stream " + std::to_string(place - 1);
}

void DeviceEvents::append(std::span<const DeviceSpan> spans, std::string& text,
                          std::set<std::int32_t>& lanes) {
  for (const DeviceSpan& span : spans) {
    const auto [at, isNew] = devices_.try_emplace(span.device, Device{span.begin, span.run});
    Device& device = at->second;
    lanes.insert({laneOf(span.device), laneOf(span)});
    if (span.begin > device.busyUntil) appendIdle(span, text);
    appendLaunch(span, text);
    device.busyUntil = std::max(device.busyUntil, span.end);
    device.run = std::max(device.run, span.run);
  }
}

void DeviceEvents::appendIdle(const DeviceSpan& next, std::string& text) const {
  const Device& device = devices_.at(next.device);
  TraceEvent(text, 'X', rank_, laneOf(next.device))
      .name(next.run > device.run ? "idle between steps" : "idle")
      .category("idle")
      .at(device.busyUntil)
      .lasts(next.begin - device.busyUntil)
      .end();
}

void DeviceEvents::appendLaunch(const DeviceSpan& span, std::string& text) const {
  TraceEvent event(text, 'X', rank_, laneOf(span));
  event.name(span.what.name)
      .category("device")
      .at(span.begin)
      .lasts(span.end - span.begin)
      .arg("kind", asText(span.what.work))
      .arg("device", std::int64_t{span.device})
      .arg("stream", std::int64_t{span.stream})
      .arg("run", span.run)
      .arg("tasks", span.what.tasks)
      .argTime("launched", span.launchedAt);
  if (span.what.bytes > 0) event.arg("bytes", span.what.bytes);
  if (span.what.part > 0) event.arg("part", std::int64_t{span.what.part});
  if (span.what.worker >= 0) event.arg("worker", std::int64_t{span.what.worker});
  event.end();
}

}  // namespace tessera::detail
