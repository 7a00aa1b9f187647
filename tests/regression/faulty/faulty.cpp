// A program whose one component goes wrong on request: at a step, on the patch that the deck names, in the
// way and at the place that the deck says. What the tests look at is what the job does then. Emulated devices
// go wrong as the environment says in FAULTY_DEVICE: absent, driver, memory=BYTES or lost=PIECES_OF_WORK;
// those of one rank alone where FAULTY_DEVICE_RANK names it.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>
#include <thread>

#include "components/component.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/tessera/command_line.hpp"

namespace tessera::test {
namespace {

[[noreturn]] void goWrong(const std::string& how) {
  if (how == "error") throw InternalError("the component went wrong on request");
  if (how == "standard") throw std::runtime_error("a standard exception");
  if (how == "unknown") throw 17;
  if (how == "memory") throw std::bad_alloc();
  if (how == "exit") std::_Exit(3);
  if (how == "hang") {
    std::ofstream("hanging") << "so that the test knows";
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  std::raise(SIGSEGV);
  std::abort();
}

class Faulty final : public Component {
 public:
  std::string name() const override { return "faulty"; }
  std::string summary() const override { return "goes wrong on request"; }

  void declareParameters(ParameterTable& table) const override {
    table
        .choice("how", {"error", "standard", "unknown", "memory", "exit", "crash", "hang", "over_read",
                        "no_step", "nothing"})
        .doc("what happens; no_step: the largest stable time step is 0")
        .required();
    table.integer("at_step").doc("in which step, counted from 0").defaultsTo(2);
    table.integer("patch").doc("on which patch; -1: on all").defaultsTo(-1);
    table.choice("where", {"task", "stable_dt", "output"})
        .doc(
            "in a task; in the one that the next time step waits for; or between steps, where a history line "
            "is "
            "written, on rank 1")
        .defaultsTo("task");
  }

  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    how_ = values.choice("how");
    where_ = values.choice("where");
    stableDt_ = setup.stableDt;
    total_ = setup.labels.reduction("faulty.total");
    step_ = values.integer("at_step");
    patch_ = values.integer("patch");
    u_ = setup.labels.variable<double, Cell>("u");
    nodes_ = setup.labels.variable<Vec<float, 2>, Node>("corner");
    faces_ = setup.labels.variable<double, FaceY>("flux");
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("Faulty::initial")
        .writes(u_)
        .writes(nodes_)
        .writes(faces_)
        .runs<Cpu>([u = u_, nodes = nodes_, faces = faces_](const auto& task) {
          const auto cells = task.write(u);
          const auto corners = task.write(nodes);
          const auto sides = task.write(faces);
          const auto number = [](Index x) { return static_cast<double>(x.i + 100 * x.j); };
          forEach(task.exec(), "initial", task.interior(u), [=](Index x) { cells(x) = number(x); });
          forEach(task.exec(), "initial", task.interior(faces), [=](Index x) { sides(x) = number(x); });
          forEach(task.exec(), "initial", task.interior(nodes), [=](Index x) {
            corners(x) = {{static_cast<float>(x.i), static_cast<float>(x.j)}};
          });
        });
  }

  void declareStep(StepPlan& step) const override {
    step.task("Faulty::advance")
        .reads(Old, u_)
        .reads(Old, nodes_)
        .reads(Old, faces_)
        .writes(u_)
        .runs<Cpu>([u = u_, how = where_ == "task" ? how_ : "nothing", at = step_,
                    patch = patch_](const auto& task) {
          const bool now = task.step() == at && (patch < 0 || task.patch().id == patch);
          const auto before = task.read(Old, u);
          const auto after = task.write(u);
          if (now && how != "over_read" && how != "no_step" && how != "nothing") goWrong(how);
          const Index offset{now && how == "over_read" ? 1 : 0, 0, 0};
          forEach(task.exec(), "advance", task.interior(),
                  [=](Index x) { after(x) = 2.0 * before(x + offset); });
        });
    step.task("Faulty::stableDt")
        .reads(New, u_)
        .contributes(stableDt_, Min)
        .runs<Cpu>([dt = stableDt_, how = how_, fails = where_ == "stable_dt", at = step_,
                    patch = patch_](const auto& task) {
          if (fails && task.step() == at && (patch < 0 || task.patch().id == patch)) goWrong(how);
          task.contribute(dt, how == "no_step" && task.step() == at ? 0.0 : 1.0);
        });
  }

  void declareDiagnostics(StepPlan& plan) const override {
    plan.task("Faulty::total")
        .reads(Old, u_)
        .contributes(total_, Max)
        .runs<Cpu>([total = total_](const auto& task) { task.contribute(total, 1.0); });
  }

  std::vector<Diagnostic> diagnostics() const override {
    const char* rank = std::getenv("PMI_RANK");
    const bool fails = where_ == "output" && rank != nullptr && std::string(rank) == "1";
    return {{"faulty.lines", total_,
             [fails, how = how_, at = step_, lines = std::int64_t{0}](double value) mutable {
               if (fails && lines++ > at) goWrong(how);
               return value;
             }}};
  }

 private:
  std::string how_;
  std::string where_;
  std::int64_t step_ = 0;
  std::int64_t patch_ = -1;
  ReductionLabel stableDt_;
  ReductionLabel total_;
  Label<double, Cell> u_;
  Label<Vec<float, 2>, Node> nodes_;
  Label<double, FaceY> faces_;
};

EmulatedOptions devicesThatGoWrong() {
  EmulatedOptions devices;
  const char* given = std::getenv("FAULTY_DEVICE");
  const std::string how = given == nullptr ? "" : given;
  const char* rank = std::getenv("FAULTY_DEVICE_RANK");
  const char* mine = std::getenv("PMI_RANK");
  if (rank != nullptr && (mine == nullptr || std::string(rank) != mine)) return devices;
  const std::string number = how.substr(how.find('=') + 1);
  if (how == "absent") devices.refuses = DeviceFault::NoDevice;
  if (how == "driver") devices.refuses = DeviceFault::DriverTooOld;
  if (how.starts_with("memory=")) devices.memoryBytes = std::stoll(number);
  if (how.starts_with("lost=")) devices.failsAfter = std::stoll(number);
  return devices;
}

}  // namespace
}  // namespace tessera::test

int main(int argc, char** argv) {
  tessera::ComponentRegistry components = tessera::builtInComponents();
  components.add<tessera::test::Faulty>();
  return tessera::runTessera(argc, argv, components, tessera::test::devicesThatGoWrong());
}
