#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/deck.hpp"
#include "core/deck/parameter_values.hpp"
#include "core/deck/parameters.hpp"
#include "scheduler/device/device_options.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Memory on each device: so many bytes, or a part of what it has.
struct DeviceLimit {
  std::int64_t bytes = 0;  ///< 0: `part`
  double part = 0.9;       ///< above 0, at most 1
};

/// "4 GiB", "500 MB", "60 %"; kB, MB, GB and TB are powers of 1000, KiB to TiB of 1024. Nothing where it is
/// neither.
std::optional<DeviceLimit> parseDeviceLimit(std::string_view text);

/// What the deck's [device] says; it has an effect where the command line names a device. Unset: the deck is
/// silent.
struct DeviceSettings {
  bool given = false;  ///< the deck has the table
  std::optional<DevicePlacement> placement;
  std::optional<DeviceLimit> limit;
  std::optional<DeviceMemoryKind> memory;
  std::optional<bool> graphs;
  std::vector<std::string> cpuTasks;
  std::vector<std::string> gpuTasks;

  /// `options`, with what the deck says in place of what they say.
  DeviceOptions over(DeviceOptions options) const;
};

/// Declares [device].
ParameterTable deviceTable();

DeviceSettings deviceSettingsOf(const ParameterValues& device);

/// The names of [device.tasks] are those of tasks of these plans, each on one side only, and those for
/// devices have a body for them. Throws DeckError with all that is not so, each with its place in the deck.
void checkDeviceTasks(const Deck& deck, const std::vector<StepPlan>& plans);

/// "auto", "gpu", "cpu" or "cost", as decks write it, and back; of these texts only.
std::string_view asText(DevicePlacement placement);
DevicePlacement devicePlacementOf(std::string_view text);

}  // namespace tessera
