#include "tools/bench/rays/card_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>

#include "components/component.hpp"
#include "components/rmcrt/rmcrt.hpp"
#include "scheduler/trace.hpp"
#include "tools/simulation/deck/core_schema.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// The component, with launches of rays that are split over streams.
class SplitRays final : public Component {
 public:
  explicit SplitRays(int streams) : streams_(streams) {}

  std::string name() const override { return rays_.name(); }
  std::string summary() const override { return rays_.summary(); }
  bool supportsLevels() const override { return rays_.supportsLevels(); }
  void declareParameters(ParameterTable& table) const override { rays_.declareParameters(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    rays_.configure(values, setup);
  }
  void declareInitial(StepPlan& plan) const override { rays_.declareInitial(plan); }
  void declareStep(StepPlan& step) const override {
    StepPlan declared(step.name());
    rays_.declareStep(declared);
    for (TaskDeclaration task : declared.tasks()) {
      if (task.name.starts_with("Rmcrt::trace")) task.streams = streams_;
      step.add(task);
    }
  }
  std::vector<OptionalPart> stepParts() const override { return rays_.stepParts(); }
  void declareDiagnostics(StepPlan& plan) const override { rays_.declareDiagnostics(plan); }
  std::vector<Diagnostic> diagnostics() const override { return rays_.diagnostics(); }

 private:
  Rmcrt rays_;
  int streams_;
};

ComponentRegistry componentsFor(const CardCase& what) {
  if (what.streams == 1) return builtInComponents();
  const ComponentRegistry all = builtInComponents();
  ComponentRegistry registry;
  for (const std::string& name : all.names()) {
    if (name == "rmcrt") {
      registry.add([streams = what.streams] { return std::make_unique<SplitRays>(streams); });
    } else {
      registry.add([all, name] { return all.make(name); });
    }
  }
  return registry;
}

/// Joins what is owned of all variables, patch by patch (FNV-1a).
std::uint64_t bitsOf(const Simulation& simulation) {
  std::uint64_t bits = 0xcbf29ce484222325U;
  std::vector<std::byte> packed;
  const std::vector<LabelId>& labels = simulation.model().persistent();
  const DataWarehouse& data = simulation.dataOnHost(labels);
  for (const LabelId label : labels) {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
      if (data.ownPatches()[local] < 0 || !data.has(label, local)) continue;
      const Box owned = data.ownedBox(label, local);
      packed.resize(static_cast<std::size_t>(owned.volume() * data.labels().info(label).type.bytes()));
      data.packOwned(label, local, packed);
      for (const std::byte one : packed) bits = (bits ^ static_cast<std::uint8_t>(one)) * 0x100000001b3U;
    }
  }
  return bits;
}

class CardSteps : public RunListener {
 public:
  CardSteps(CardRun& run, std::int64_t steps, double mostSeconds)
      : run_(run), steps_(steps), mostSeconds_(mostSeconds) {}

  bool stepped(Simulation& simulation, std::span<const double> /*control*/) override {
    simulation.waitForDevices();
    if (++taken_ > 1) run_.seconds.push_back(secondsSince(begin_));
    const bool ends = taken_ > steps_ || secondsSince(start_) > mostSeconds_;
    if (ends) run_.bits = bitsOf(simulation);
    begin_ = SteadyClock::now();
    return ends;
  }

 private:
  CardRun& run_;
  std::int64_t steps_;
  double mostSeconds_;
  std::int64_t taken_ = 0;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point begin_ = start_;
};

/// The time in which at least one of some spans is under way.
std::int64_t unionOf(std::vector<std::pair<std::int64_t, std::int64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  std::int64_t sum = 0;
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  for (const auto& [begin, end] : spans) {
    if (end > until) sum += end - std::max(begin, until);
    until = std::max(until, end);
  }
  return sum;
}

/// Parts of the time from the begin of the second step to the end of the last launch.
void takeParts(const std::vector<DeviceSpan>& spans, const std::vector<TracedStep>& steps, CardRun& run) {
  std::vector<std::int64_t> begins;
  for (const TracedStep& step : steps) {
    if (step.plan != static_cast<std::size_t>(PlanId::Initial)) begins.push_back(step.begin);
  }
  if (begins.size() < 2) return;
  std::int64_t last = begins[1];
  std::vector<std::pair<std::int64_t, std::int64_t>> kernels;
  std::vector<std::pair<std::int64_t, std::int64_t>> rays;
  for (const DeviceSpan& span : spans) {
    if (span.begin < begins[1]) continue;
    last = std::max(last, span.end);
    if (span.what.work != DeviceWork::Kernel) continue;
    kernels.emplace_back(span.begin, span.end);
    if (span.what.name.find("trace") != std::string_view::npos) rays.emplace_back(span.begin, span.end);
  }
  const auto whole = static_cast<double>(std::max<std::int64_t>(last - begins[1], 1));
  run.launches = static_cast<std::int64_t>(kernels.size()) / (static_cast<std::int64_t>(begins.size()) - 1);
  run.kernelPart = static_cast<double>(unionOf(std::move(kernels))) / whole;
  run.rayPart = static_cast<double>(unionOf(std::move(rays))) / whole;
}

std::string cube(std::int64_t n) {
  const std::string text = std::to_string(n);
  return "[" + text + ", " + text + ", " + text + "]";
}

}  // namespace

double CardRun::least() const {
  return seconds.empty() ? 0.0 : *std::min_element(seconds.begin(), seconds.end());
}

std::string CardCase::deck() const {
  const std::string flowTable =
      "[euler]\ngamma = 1.4\ninitial.density = \"1 + 0.1*sin(6.283185307*x)\"\ninitial.pressure = 1\n";
  return std::string("simulation.components = [") + (flow ? "\"euler\", " : "") +
         "\"rmcrt\"]\ntime = { dt = " + (flow ? "1e-4" : "1") +
         ", max_steps = 1000000 }\n[grid]\ncells = " + cube(rays.fine / rays.ratio) +
         "\npatch_size = " + cube(std::min(rays.patch, rays.fine / rays.ratio)) +
         "\n[[grid.level]]\nratio = " + std::to_string(rays.ratio) +
         "\nlower = [0, 0, 0]\nupper = [1, 1, 1]\npatch_size = " + cube(rays.patch) + "\n" +
         (flow ? flowTable : "") +
         "[rmcrt]\nemissive_power = 1\nabsorption = \"0.9*(1 - 2*abs(x - 0.5))*(1 - 2*abs(y - 0.5))*(1 - "
         "2*abs(z - 0.5)) + 0.1\"\nrays = " +
         std::to_string(rays.rays) + "\nhalo = " + std::to_string(rays.halo) + "\n" +
         (flow ? "every = 4\n" : "") + (settings.empty() ? "wall_rays = 0\n" : settings);
}

CardRun runCard(const CardCase& what, Transport& transport, SimulationOptions options, std::int64_t steps,
                double mostSeconds, bool isTraced) {
  const Deck deck = Deck::fromText(what.deck(), "rays_card");
  const ComponentRegistry registry = componentsFor(what);
  checkDeck(deck, registry).throwIfErrors();
  CardRun run;
  std::vector<DeviceSpan> spans;
  std::vector<TracedStep> traced;
  Trace trace(SteadyClock::now(), Trace::kUsualBudget, [&](const TraceRecords& records) {
    spans.insert(spans.end(), records.onDevices.begin(), records.onDevices.end());
    traced.insert(traced.end(), records.steps.begin(), records.steps.end());
  });
  if (isTraced) options.trace = &trace;
  {
    Simulation simulation(deck, registry, transport, options);
    CardSteps listener(run, steps, mostSeconds);
    simulation.run(listener);
    trace.flush();
  }
  if (isTraced) takeParts(spans, traced, run);
  return run;
}

}  // namespace tessera::bench
