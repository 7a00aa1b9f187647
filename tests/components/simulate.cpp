#include "tests/components/simulate.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tests/components/other_mesh.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::test {
namespace {

std::size_t positionIn(const Box& box, Index x) {
  const Extent n = box.extent();
  const Index r = x - box.lo;
  return static_cast<std::size_t>((r.k * n.j + r.j) * n.i + r.i);
}

std::map<std::string, double> columnsOf(Simulation& simulation) {
  const std::vector<double> values = simulation.diagnose();
  const std::vector<Diagnostic>& names = simulation.model().diagnostics();
  std::map<std::string, double> columns;
  for (std::size_t n = 0; n < names.size(); ++n) columns[names[n].name] = values[n];
  return columns;
}

/// Copies what this rank owns of a component of a label on a level to its place in the whole field. False
/// where it owns nothing.
bool copyOwned(const Simulation& simulation, LabelId label, std::int32_t component, const Level& level,
               WholeField& whole) {
  const DataWarehouse& data = simulation.dataOnHost(std::span(&label, 1));
  std::vector<double> packed;
  bool any = false;
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    if (data.ownPatches()[local] < 0) continue;
    const bool here = data.hierarchy().patch(data.ownPatches()[local]).level == level.number();
    if (!here || !data.has(label, local)) continue;
    any = true;
    const Box owned = data.ownedBox(label, local);
    packed.resize(static_cast<std::size_t>(owned.volume()));
    data.packComponent(label, local, component, std::as_writable_bytes(std::span(packed)));
    std::size_t n = 0;
    // At the end of an axis that wraps a patch has the first border once more.
    forEachIndex(owned, [&](Index x) {
      if (whole.box.contains(x)) whole.values[positionIn(whole.box, x)] = packed[n];
      ++n;
    });
  }
  return any;
}

class StartColumns : public RunListener {
 public:
  StartColumns(std::span<const double> hostParts, std::optional<std::uint64_t> adoptions,
               OtherPatches patches, bool keepsHistory)
      : hostParts_(hostParts), adoptions_(adoptions), patches_(patches), keepsHistory_(keepsHistory) {}

  bool began(Simulation& simulation, bool, std::span<const double>) override {
    columns = columnsOf(simulation);
    if (adoptions_) {
      meshes_.emplace(simulation.mesh().hierarchy, simulation.transport().size(), *adoptions_, patches_);
    }
    adoptAnother(simulation);
    movePatches(simulation);
    return false;
  }
  bool stepped(Simulation& simulation, std::span<const double>) override {
    if (keepsHistory_) {
      history["time"].push_back(simulation.clock().time());
      for (const auto& [name, value] : columnsOf(simulation)) history[name].push_back(value);
    }
    adoptAnother(simulation);
    movePatches(simulation);
    return false;
  }

  std::map<std::string, double> columns;
  std::map<std::string, std::vector<double>> history;
  std::int64_t adopted = 0;

 private:
  void movePatches(Simulation& simulation) {
    if (!hostParts_.empty()) simulation.placeOnHost(hostParts_[moves_++ % hostParts_.size()]);
  }

  /// Twice in a row as well.
  void adoptAnother(Simulation& simulation) {
    if (meshes_ && simulation.regrids() != nullptr) meshes_->startFrom(simulation.mesh().hierarchy);
    while (meshes_ && meshes_->below(3) != 0) {
      simulation.adopt(meshes_->draw());
      ++adopted;
    }
  }

  const std::span<const double> hostParts_;
  std::size_t moves_ = 0;
  const std::optional<std::uint64_t> adoptions_;
  const OtherPatches patches_;
  const bool keepsHistory_;
  std::optional<OtherMeshes> meshes_;
};

void collect(Simulation& simulation, Outcome& outcome, std::mutex& mutex) {
  const std::lock_guard lock(mutex);
  const Model& model = simulation.model();
  for (const Level& level : simulation.hierarchy().levels()) {
    for (const LabelId label : model.persistent()) {
      const LabelInfo& info = model.labels().info(label);
      if (info.type.scalar != Scalar::Float64 || info.type.together() != 1) continue;
      for (std::int32_t c = 0; c < info.type.planes(); ++c) {
        std::string name = info.nameOf(c);
        if (level.number() > 0) name += " on level " + std::to_string(level.number());
        const auto known = outcome.fields.find(name);
        WholeField whole;
        if (known != outcome.fields.end()) whole = known->second;
        whole.box = level.domainOf(info.centering);
        whole.values.resize(static_cast<std::size_t>(whole.box.volume()), 0.0);
        if (copyOwned(simulation, label, c, level, whole)) outcome.fields[name] = std::move(whole);
      }
    }
  }
  outcome.paging += simulation.devicePaging();
  outcome.steps = simulation.clock().step();
  outcome.time = simulation.clock().time();
  outcome.dt = simulation.clock().dt();
  outcome.statistics = simulation.statistics();
  outcome.solves = simulation.solves().sum();
  if (const RegridCounts* regrids = simulation.regrids()) outcome.regrids = *regrids;
  outcome.rebalances = simulation.balance().changes;
}

std::string listText(Extent n) {
  return "[" + std::to_string(n.i) + "," + std::to_string(n.j) + "," + std::to_string(n.k) + "]";
}

bool sameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

double WholeField::operator()(Index x) const { return values[positionIn(box, x)]; }

std::string firstDifference(const Outcome& expected, const Outcome& actual) {
  if (expected.fields.size() != actual.fields.size()) return "the number of variables differs";
  for (const auto& [name, field] : expected.fields) {
    const WholeField& other = actual.fields.at(name);
    if (field.values.size() != other.values.size()) return name + " has another size";
    for (std::size_t n = 0; n < field.values.size(); ++n) {
      if (sameBits(field.values[n], other.values[n])) continue;
      return name + " differs at element " + std::to_string(n) + ": " + std::to_string(field.values[n]) +
             " and " + std::to_string(other.values[n]);
    }
  }
  for (const auto& [name, value] : expected.end) {
    if (!sameBits(value, actual.end.at(name))) return "column " + name + " differs";
  }
  return "";
}

double largestDifference(const Outcome& a, const Outcome& b) {
  double largest = 0.0;
  for (const auto& [name, field] : a.fields) {
    const std::vector<double>& other = b.fields.at(name).values;
    for (std::size_t n = 0; n < field.values.size(); ++n)
      largest = std::max(largest, std::abs(field.values[n] - other.at(n)));
  }
  return largest;
}

Simulate& Simulate::set(std::string_view assignment) {
  assignments_.append(" --set '").append(assignment).append("'");
  deck_.set(assignment);
  return *this;
}

Simulate& Simulate::cells(Extent n) {
  if (const DeckNode* size = deck_.find("grid.patch_size")) {
    Extent fitting;
    for (int d = 0; d < kAxes; ++d) {
      fitting[d] = std::min(size->children[static_cast<std::size_t>(d)].integer(), n[d]);
    }
    set("grid.patch_size=" + listText(fitting));
  }
  return set("grid.cells=" + listText(n));
}

Simulate& Simulate::patches(Extent n) {
  if (deck_.find("grid.patch_size") == nullptr) return set("grid.patches=" + listText(n));
  const DeckNode& cells = *deck_.find("grid.cells");
  Extent size;
  for (int d = 0; d < kAxes; ++d) {
    size[d] = (cells.children[static_cast<std::size_t>(d)].integer() + n[d] - 1) / n[d];
  }
  return set("grid.patch_size=" + listText(size));
}

Simulate& Simulate::ranks(int n) {
  ranks_ = n;
  return *this;
}

Simulate& Simulate::threads(int n) {
  threads_ = n;
  return *this;
}

Simulate& Simulate::seed(std::uint64_t n) {
  seed_ = n;
  return *this;
}

Simulate& Simulate::checked() {
  checked_ = true;
  return *this;
}

Simulate& Simulate::keepHistory() {
  keepsHistory_ = true;
  return *this;
}

Simulate& Simulate::adoptions(std::uint64_t seed, OtherPatches patches) {
  otherPatches_ = patches;
  adoptions_ = seed;
  return *this;
}

Simulate& Simulate::secondsOfPatch(GivenSeconds seconds) {
  secondsOfPatch_ = std::move(seconds);
  return *this;
}

Simulate& Simulate::components(ComponentRegistry registry) {
  registry_ = std::move(registry);
  return *this;
}

Simulate& Simulate::scratch() {
  scratch_ = true;
  return *this;
}

Simulate& Simulate::withoutReuse() {
  reuse_ = BufferReuse::Off;
  return *this;
}

Simulate& Simulate::devices(DeviceOptions devices) {
  devices_ = std::move(devices);
  return *this;
}

Simulate& Simulate::hostParts(std::vector<double> parts) {
  hostParts_ = std::move(parts);
  return *this;
}

Outcome Simulate::run(std::optional<std::int64_t> steps) {
  if (steps) set("time.max_steps=" + std::to_string(*steps));
  checkDeck(deck_, registry_).throwIfErrors();

  SimulationOptions options;
  options.threads = std::max(threads_, 1);
  options.executor = threads_ == 0 ? ExecutorKind::InOrder : ExecutorKind::Threads;
  options.checked = checked_;
  options.reuse = reuse_;
  options.devices = devices_;
  options.secondsOfPatch = secondsOfPatch_;
  options.devices.standbyThread = threads_ > 0;
  if (scratch_) {
    options.halos = HaloKeeping::Scratch;
    options.caches.core = std::int64_t{1} << 20;
  }

  Outcome outcome;
  std::mutex mutex;
  std::optional<VirtualSchedule> schedule;
  LoopbackOptions loopback;
  if (seed_) {
    schedule.emplace(ranks_, *seed_);
    options.executor = ExecutorKind::Virtual;
    options.schedule = &*schedule;
    options.devices.emulated.progress = EmulatedProgress::Stepped;
    options.devices.emulated.seed = *seed_;
    loopback.delaySeed = seed_;
    loopback.whenBlocked = [&] { schedule->pass(); };
  }
  LoopbackWorld world(ranks_, loopback);
  const auto rank = [&](Transport& transport) {
    Simulation simulation(deck_, registry_, transport, options);
    StartColumns atStart(hostParts_, adoptions_, otherPatches_, keepsHistory_);
    simulation.run(atStart);
    const auto atEnd = columnsOf(simulation);
    collect(simulation, outcome, mutex);
    if (transport.rank() != 0) return;
    outcome.start = atStart.columns;
    outcome.history = std::move(atStart.history);
    outcome.end = atEnd;
    outcome.adoptions = atStart.adopted;
  };
  if (schedule) {
    runRanks(world, *schedule, rank);
  } else {
    runRanks(world, rank);
  }
  return outcome;
}

Simulate simulate(std::string_view name) {
  return Simulate(Deck::fromFile(std::string(TESSERA_SOURCE_DIR) + "/inputs/" + std::string(name) + ".toml"));
}

Simulate simulateText(std::string_view text) { return Simulate(Deck::fromText(text, "test.toml")); }

}  // namespace tessera::test
