#include "tools/simulation/deck/device_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "core/deck/deck_diagnostics.hpp"
#include "core/text/contracts.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{{"B", 1.0},
                                                                     {"kB", 1e3},
                                                                     {"MB", 1e6},
                                                                     {"GB", 1e9},
                                                                     {"TB", 1e12},
                                                                     {"KiB", 0x1p10},
                                                                     {"MiB", 0x1p20},
                                                                     {"GiB", 0x1p30},
                                                                     {"TiB", 0x1p40}}};
constexpr double kMostBytes = 0x1p60;

constexpr std::array<std::pair<std::string_view, DevicePlacement>, 4> kPlacements{
    {{"auto", DevicePlacement::Auto},
     {"gpu", DevicePlacement::Gpu},
     {"cpu", DevicePlacement::Cpu},
     {"cost", DevicePlacement::Cost}}};

void checkLimit(const ParameterValues& device, DeckDiagnostics& findings) {
  if (parseDeviceLimit(device.text("limit"))) return;
  findings.error(device.where("limit"),
                 "device.limit is \"" + device.text("limit") +
                     "\"; write a size such as \"4 GiB\" or \"500 MB\", or a part of the memory of each "
                     "device, above 0, such as \"60 %\"");
}

/// What a person wrote, in the deck or on the command line.
template <class T, class Get>
void takeGiven(const ParameterValues& device, std::string_view key, std::optional<T>& setting,
               const Get& get) {
  if (device.isGiven(key)) setting = get(key);
}

/// Where a task can run, in some plan.
struct TaskSides {
  bool host = false;
  bool devices = false;
};

std::map<std::string, TaskSides> tasksOf(const std::vector<StepPlan>& plans) {
  std::map<std::string, TaskSides> tasks;
  for (const StepPlan& plan : plans) {
    for (const TaskDeclaration& task : plan.tasks()) {
      TaskSides& sides = tasks[task.name];
      sides.host |= task.body.runsOnHost();
      sides.devices |= static_cast<bool>(task.body.device);
    }
  }
  return tasks;
}

const std::vector<DeckNode>& entriesOf(const Deck& deck, std::string_view key) {
  static const std::vector<DeckNode> kNone;
  const DeckNode* node = deck.find(key);
  return node == nullptr ? kNone : node->children;
}

}  // namespace

std::optional<DeviceLimit> parseDeviceLimit(std::string_view text) {
  double number = 0.0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || !(number > 0.0)) return {};
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (unit == "%") return number <= 100.0 ? std::optional<DeviceLimit>({0, number / 100.0}) : std::nullopt;
  for (const auto& [name, bytes] : kUnits) {
    if (unit != name || !(number * bytes >= 1.0 && number * bytes <= kMostBytes)) continue;
    return DeviceLimit{static_cast<std::int64_t>(number * bytes), 1.0};
  }
  return {};
}

ParameterTable deviceTable() {
  ParameterTable table("device", "How devices are used, where the command line names some (--device)");
  table.choice("placement", {"auto", "gpu", "cpu", "cost"})
      .doc(
          "where tasks run: auto, on devices if a task can and touches fields; gpu, also if it touches none; "
          "cpu, "
          "all on the host; cost, as auto, but the host takes the part of the patches that its measured "
          "speed "
          "is worth")
      .defaultsTo("auto")
      .mayChangeOnRestart();
  table.textList("tasks.cpu")
      .doc("names of tasks that run on the host, whatever the placement; `tessera graph` shows names")
      .optional()
      .mayChangeOnRestart();
  table.textList("tasks.gpu")
      .doc("names of tasks that run on devices, whatever the placement")
      .optional()
      .mayChangeOnRestart();
  table.text("limit")
      .doc(
          "largest amount of memory to use on each device: a size (\"4 GiB\", \"500 MB\") or a part of it "
          "(\"60 %\")")
      .defaultsTo("90 %")
      .mayChangeOnRestart();
  table.choice("memory", {"explicit", "managed"})
      .doc("explicit: taken from the device, copied as planned; managed: the driver moves pages as needed")
      .defaultsTo("explicit")
      .mayChangeOnRestart();
  table.boolean("graphs")
      .doc("record what devices do in a step once and replay it, in place of a launch for each part")
      .defaultsTo(false)
      .mayChangeOnRestart();
  table.check(checkLimit);
  return table;
}

DeviceSettings deviceSettingsOf(const ParameterValues& device) {
  DeviceSettings settings;
  takeGiven(device, "placement", settings.placement,
            [&](std::string_view key) { return devicePlacementOf(device.choice(key)); });
  takeGiven(device, "limit", settings.limit,
            [&](std::string_view key) { return parseDeviceLimit(device.text(key)); });
  takeGiven(device, "memory", settings.memory, [&](std::string_view key) {
    return device.choice(key) == "managed" ? DeviceMemoryKind::Managed : DeviceMemoryKind::Explicit;
  });
  takeGiven(device, "graphs", settings.graphs, [&](std::string_view key) { return device.boolean(key); });
  if (device.has("tasks.cpu")) settings.cpuTasks = device.texts("tasks.cpu");
  if (device.has("tasks.gpu")) settings.gpuTasks = device.texts("tasks.gpu");
  settings.given = settings.placement || settings.limit || settings.memory || settings.graphs ||
                   device.has("tasks.cpu") || device.has("tasks.gpu");
  return settings;
}

DeviceOptions DeviceSettings::over(DeviceOptions options) const {
  options.placement = placement.value_or(options.placement);
  options.memory = memory.value_or(options.memory);
  options.graphs = graphs.value_or(options.graphs);
  if (limit) {
    options.limitBytes = limit->bytes;
    options.limitPart = limit->part;
  }
  if (!cpuTasks.empty()) options.cpuTasks = cpuTasks;
  if (!gpuTasks.empty()) options.gpuTasks = gpuTasks;
  return options;
}

void checkDeviceTasks(const Deck& deck, const std::vector<StepPlan>& plans) {
  const std::map<std::string, TaskSides> tasks = tasksOf(plans);
  std::vector<std::string> names;
  for (const auto& [name, sides] : tasks) names.push_back(name);
  std::map<std::string, std::string> seen;  // key by name
  DeckDiagnostics findings;
  for (const std::string key : {"device.tasks.cpu", "device.tasks.gpu"}) {
    for (const DeckNode& entry : entriesOf(deck, key)) {
      const std::string& name = entry.text();
      const auto task = tasks.find(name);
      if (task == tasks.end()) {
        findings.error(entry.where, key + " names \"" + name + "\", which is not a task of this deck" +
                                        didYouMeanOneOf(name, names));
      } else if (const auto [other, isNew] = seen.emplace(name, key); !isNew) {
        findings.error(entry.where, "task \"" + name + "\" is named in " + other->second + " and in " + key +
                                        "; remove one of them");
      } else if (const bool onDevices = key == "device.tasks.gpu";
                 !(onDevices ? task->second.devices : task->second.host)) {
        findings.error(entry.where, "task \"" + name + "\" has no body for " +
                                        (onDevices ? "devices" : "the host") + "; remove it from " + key);
      }
    }
  }
  findings.throwIfErrors();
}

DevicePlacement devicePlacementOf(std::string_view text) {
  const auto named = std::find_if(kPlacements.begin(), kPlacements.end(),
                                  [&](const auto& entry) { return entry.first == text; });
  TESSERA_EXPECT(named != kPlacements.end(), "name one of the placements");
  return named->second;
}

std::string_view asText(DevicePlacement placement) {
  return std::find_if(kPlacements.begin(), kPlacements.end(),
                      [&](const auto& entry) { return entry.second == placement; })
      ->first;
}

}  // namespace tessera
