#include "tools/simulation/device_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "scheduler/placement.hpp"
#include "tools/simulation/deck/device_table.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

std::string versionText(std::int32_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string numberOrDash(bool known, std::int64_t number) { return known ? std::to_string(number) : "-"; }

std::vector<std::string> rowOf(const UsedDevice& device) {
  const DeviceInfo& info = device.info;
  const bool near = device.near.distance != DeviceNearness::kUnknown;
  return {std::to_string(device.rank),
          std::to_string(info.number),
          info.name,
          info.pciAddress.empty() ? "-" : info.pciAddress,
          std::to_string(info.processors),
          std::to_string(info.memoryBytes >> 30) + " GiB",
          numberOrDash(near, device.near.numaNode),
          numberOrDash(near, device.near.distance)};
}

/// Why a task is the host's; empty where it is not.
std::string hostReason(const TaskDeclaration& task, const DeviceOptions& options, bool onDevice) {
  if (onDevice) return "";
  if (!task.body.device) return "no body for devices";
  if (task.oncePerRank) return "once a rank";
  const auto& named = options.cpuTasks;
  if (std::find(named.begin(), named.end(), task.name) != named.end()) return "named";
  if (options.placement == DevicePlacement::Cpu) return "placement cpu";
  return "touches no field";
}

void append(std::string& list, const std::string& entry) {
  if (("; " + list + ";").find("; " + entry + ";") != std::string::npos) return;
  list += (list.empty() ? "" : "; ") + entry;
}

}  // namespace

std::string jsonOf(const UsedDevice& device) {
  const DeviceInfo& info = device.info;
  Json json;
  json["rank"] = device.rank;
  json["number"] = info.number;
  json["name"] = info.name;
  json["pci_address"] = info.pciAddress;
  json["architecture"] = info.architecture;
  json["driver"] = info.driverVersion > 0 ? versionText(info.driverVersion) : "";
  json["driver_version"] = info.driverVersion;
  json["multiprocessors"] = info.processors;
  json["memory_bytes"] = info.memoryBytes;
  json["numa_node"] = device.near.numaNode;
  if (device.near.distance != DeviceNearness::kUnknown) json["numa_distance"] = device.near.distance;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

UsedDevice usedDeviceOf(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    throw InternalError("a rank described its devices in a text that is not JSON: " + text);
  UsedDevice device;
  device.rank = json.value("rank", 0);
  device.info.number = json.value("number", 0);
  device.info.name = json.value("name", "");
  device.info.pciAddress = json.value("pci_address", "");
  device.info.architecture = json.value("architecture", "");
  device.info.driverVersion = json.value("driver_version", 0);
  device.info.processors = json.value("multiprocessors", 0);
  device.info.memoryBytes = json.value("memory_bytes", std::int64_t{0});
  device.near.numaNode = json.value("numa_node", -1);
  device.near.distance = json.value("numa_distance", int{DeviceNearness::kUnknown});
  return device;
}

std::vector<UsedDevice> usedDevices(int rank, const std::vector<DeviceInfo>& devices,
                                    const std::vector<int>& cores) {
  std::vector<std::string> addresses;
  for (const DeviceInfo& info : devices) addresses.push_back(info.pciAddress);
  const bool any = std::any_of(addresses.begin(), addresses.end(), [](const auto& a) { return !a.empty(); });
  const std::vector<DeviceNearness> near =
      any ? nearnessOf(addresses, cores) : std::vector<DeviceNearness>(devices.size());
  std::vector<UsedDevice> used;
  for (std::size_t n = 0; n < devices.size(); ++n) used.push_back({rank, devices[n], near[n]});
  return used;
}

std::string asTable(const std::vector<UsedDevice>& devices) {
  std::vector<std::vector<std::string>> rows{
      {"rank", "device", "name", "bus", "processors", "memory", "NUMA node", "distance"}};
  for (const UsedDevice& device : devices) rows.push_back(rowOf(device));
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::ostringstream line;
    for (std::size_t n = 0; n < row.size(); ++n) {
      const bool isText = n == 2 || n == 3;
      line << "  " << (isText ? std::left : std::right) << std::setw(static_cast<int>(widths[n])) << row[n];
    }
    text += (text.empty() ? "" : "\n") + line.str();
  }
  return text;
}

std::string placesText(const CompiledGraphs& graphs, const DeviceOptions& options) {
  const PlaceTask place = makePlacement(options, patchPlaces(graphs));
  const bool hasPatches = graphs.ownPatchCount() > 0;
  const auto local = static_cast<std::int32_t>(
      std::find_if(graphs.ownPatches.begin(), graphs.ownPatches.end(), [](PatchId id) { return id >= 0; }) -
      graphs.ownPatches.begin());
  std::string there;
  std::string here;
  for (const CompiledGraph& graph : graphs.plans) {
    for (const TaskDeclaration& task : graph.plan->tasks()) {
      const bool onDevice = place(task, 0, task.oncePerRank || !hasPatches ? -1 : local) != kOnHost;
      const std::string reason = hostReason(task, options, onDevice);
      append(onDevice ? there : here, task.name + (reason.empty() ? "" : " (" + reason + ")"));
    }
  }
  return "placement " + std::string(asText(options.placement)) +
         "; on devices: " + (there.empty() ? "nothing" : there) +
         "\n  on the host: " + (here.empty() ? "nothing" : here);
}

std::string asText(const CostReport& report) {
  if (!report.used) return "";
  std::ostringstream out;
  out << "placement by cost: the host has " << std::lround(100.0 * report.hostPart) << " % of the cells"
      << (report.settled ? "" : " for now") << "; " << report.trialSteps << " steps of trials:";
  out.precision(4);
  for (std::size_t n = 0; n < report.trials.size(); ++n) {
    out << (n == 0 ? " " : ", ") << std::lround(100.0 * report.trials[n].first) << " % "
        << 1e3 * report.trials[n].second << " ms a step";
  }
  return out.str();
}

}  // namespace tessera
