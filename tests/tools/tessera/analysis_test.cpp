#include "tools/simulation/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/output/run_fields.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

double stampAt(const Level& level, Index x) {
  const Real3 p = level.position(x, Cell);
  return 1000.0 * (1 + level.number()) + p.x + 10.0 * p.y;
}

/// Two labels on cells: `u` is the stamp of the cell and 1 more a step, `w` is 0, 1, 3, 7, ...
class Counting : public Component {
 public:
  std::string name() const override { return "counting"; }
  std::string summary() const override { return "numbers that tell place and step"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    u_ = setup.labels.variable<double, Cell>("u");
    w_ = setup.labels.variable<double, Cell>("w");
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Counting::begin").writes(u_).writes(w_).runs<Cpu>([u = u_, w = w_](const auto& task) {
      const auto newU = task.write(u);
      const auto newW = task.write(w);
      const Level& level = task.level();
      forEach(task.exec(), "begin", task.interior(), [&level, newU, newW](Index x) {
        newU(x) = stampAt(level, x);
        newW(x) = 0.0;
      });
    });
  }
  void declareStep(StepPlan& plan) const override {
    TaskBuilder step = plan.task("Counting::advance");
    step.reads(Old, u_).reads(Old, w_).writes(u_).writes(w_);
    step.runs<Cpu>([u = u_, w = w_](const auto& task) {
      const auto oldU = task.read(Old, u);
      const auto oldW = task.read(Old, w);
      const auto newU = task.write(u);
      const auto newW = task.write(w);
      forEach(task.exec(), "advance", task.interior(), [oldU, oldW, newU, newW](Index x) {
        newU(x) = oldU(x) + 1.0;
        newW(x) = 2.0 * oldW(x) + 1.0;
      });
    });
  }

 private:
  Label<double, Cell> u_, w_;
};

/// A unit square of 16 x 8 cells, with cells half as large in a part of it, run for some steps of length 1.
void withRun(int steps, const std::string& analysis, const std::function<void(Simulation&)>& look) {
  ComponentRegistry registry;
  registry.add([] { return std::make_unique<Counting>(); });
  const Deck deck = Deck::fromText(
      "simulation.components = ['counting']\ngrid.cells = [16, 8, 1]\ngrid.patches = [3, 2, 1]\n"
      "time = { dt = 1, max_steps = " +
          std::to_string(steps) +
          " }\n[[grid.level]]\nratio = 2\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n"
          "patch_size = [4, 3, 1]\n" +
          analysis,
      "deck.toml");
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run();
    look(simulation);
  });
}

std::map<std::string, double> columnsOf(const std::string& analysis) {
  std::map<std::string, double> columns;
  withRun(1, analysis, [&](Simulation& simulation) {
    const std::vector<double> values = simulation.diagnose();
    for (std::size_t n = 0; n < values.size(); ++n)
      columns[simulation.model().diagnostics()[n].name] = values[n];
  });
  return columns;
}

/// Calls `visit(x, y, value, volume)` for the cells that no finer ones cover, after a step.
template <class Visit>
void forEachLeaf(Visit&& visit) {
  const auto isFine = [](double x, double y) { return x > 0.25 && x < 0.75 && y > 0.25 && y < 0.75; };
  for (int n = 1; n <= 2; ++n) {
    for (int j = 0; j < 8 * n; ++j) {
      for (int i = 0; i < 16 * n; ++i) {
        const double x = (i + 0.5) / (16 * n);
        const double y = (j + 0.5) / (8 * n);
        if (isFine(x, y) == (n == 2)) visit(x, y, 1000.0 * n + x + 10.0 * y + 1.0, 1.0 / (128 * n * n));
      }
    }
  }
}

TEST(Analysis, StatisticsAreThoseOfTheStates) {
  const auto statistics = [](const std::string& name, const std::string& more) {
    return "[[analysis.statistics]]\nname = '" + name + "'\nfield = 'u'\n" + more;
  };
  const auto folder =
      std::filesystem::temp_directory_path() / ("tessera-statistics-" + std::to_string(::getpid()));
  // States 0, 1, 2, 3 of the times 0 to 4 beside the stamp; `w` is then 0, 1, 3, 7.
  const std::string asked =
      statistics("all", "") + statistics("late", "from = 1.5\n") + statistics("both", "with = 'w'\n");
  struct Right {
    const char* field;
    double value;
    double stamps;  ///< of the cell, to be added
  };
  const std::vector<Right> right{{"all.mean", 1.5, 1},         {"all.variance", 1.25, 0},
                                 {"late.mean", 2.2, 1},        {"late.variance", 0.56, 0},
                                 {"both.mean", 1.5, 1},        {"both.mean_with", 2.75, 0},
                                 {"both.covariance", 2.875, 0}};
  withRun(4, asked, [&](Simulation& simulation) {
    const LabelTable& labels = simulation.model().labels();
    std::vector<LabelId> written;
    for (const Right& one : right) {
      for (LabelId id = 0; id < labels.count(); ++id) {
        if (labels.info(id).name == one.field) written.push_back(id);
      }
    }
    FieldWriter writer(simulation.transport(), {folder, -1, "fields", FieldPrecision::Float64});
    const FieldWriteResult file = writeFields(writer, simulation, written, "");
    ASSERT_TRUE(file.written) << file.failure;
    const FieldReader reader = FieldReader::open(file.path);
    ASSERT_EQ(reader.header().fields.size(), right.size());
    const Level& level = simulation.hierarchy().level(1);
    for (std::size_t n = 0; n < right.size(); ++n) {
      ASSERT_EQ(reader.header().fields[n].name, right[n].field);
      const double stamp = stampAt(level, level.patches()[0].cells.lo);
      EXPECT_NEAR(reader.values(n, 1, 0).at(0), right[n].value + right[n].stamps * stamp, 1e-11)
          << right[n].field;
    }
  });
  std::filesystem::remove_all(folder);
}

TEST(Analysis, ProbesAndLinesHaveTheFinestCellAtEachPoint) {
  const auto found = columnsOf(
      "[[analysis.probe]]\nname = 'fine'\nfield = 'u'\nat = [0.3, 0.3, 0]\n"
      "[[analysis.probe]]\nname = 'wall'\nfield = 'u'\nat = [1, 1, 0]\n"
      "[[analysis.line]]\nname = 'row'\nfield = 'u'\nfrom = [0.1, 0.4, 0]\nto = [0.9, 0.6, 0]\npoints = 3\n");
  EXPECT_NEAR(found.at("fine"), 2001.0 + 9.5 / 32 + 45.0 / 16, 1e-10);
  EXPECT_NEAR(found.at("wall"), 1001.0 + 15.5 / 16 + 75.0 / 8, 1e-10);
  EXPECT_NEAR(found.at("row.000"), 1001.0 + 1.5 / 16 + 35.0 / 8, 1e-10);
  EXPECT_NEAR(found.at("row.001"), 2001.0 + 16.5 / 32 + 85.0 / 16, 1e-10);
  EXPECT_NEAR(found.at("row.002"), 1001.0 + 14.5 / 16 + 45.0 / 8, 1e-10);
}

TEST(Analysis, ShellsOfAProfileAreMeansOfTheCellsIn) {
  constexpr int kBins = 20;  // more than a pass of the task takes
  const double width = 0.8 / kBins;
  const auto found = columnsOf(
      "[[analysis.profile]]\nname = 'shells'\nfield = 'u'\ncentre = [0.5, 0.4, 0]\nradius = 0.8\nbins = "
      "20\n");
  std::vector<double> sums(kBins), volumes(kBins);
  forEachLeaf([&](double x, double y, double value, double volume) {
    const auto shell = static_cast<std::size_t>(std::hypot(x - 0.5, y - 0.4) / width);
    if (shell >= kBins) return;
    sums[shell] += value * volume;
    volumes[shell] += volume;
  });
  for (std::size_t n = 0; n < kBins; ++n) {
    if (volumes[n] == 0.0) continue;
    char name[16];
    std::snprintf(name, sizeof name, "shells.%03zu", n);
    EXPECT_NEAR(found.at(name), sums[n] / volumes[n], 1e-9) << name;
  }
}

TEST(Analysis, RegionsHaveTheCellsWhoseCentresLieInTheirBox) {
  const Real3 lower{0.2, 0.3, 0.0};
  const Real3 upper{0.6, 0.9, 1.0};
  const auto found = columnsOf(
      "[[analysis.region]]\nname = 'box'\nfield = 'u'\nlower = [0.2, 0.3, 0]\nupper = [0.6, 0.9, 1]\n");
  double sum = 0.0, volumes = 0.0, least = 1e9, largest = -1e9;
  forEachLeaf([&](double x, double y, double value, double volume) {
    if (x < lower.x || x >= upper.x || y < lower.y || y >= upper.y) return;
    sum += value * volume;
    volumes += volume;
    least = std::min(least, value);
    largest = std::max(largest, value);
  });
  EXPECT_NEAR(found.at("box.integral"), sum, 1e-10);
  EXPECT_NEAR(found.at("box.mean"), sum / volumes, 1e-9);
  EXPECT_NEAR(found.at("box.min"), least, 1e-10);
  EXPECT_NEAR(found.at("box.max"), largest, 1e-10);
}

TEST(Analysis, ALimitIsReachedBeyondItsNumberAlone) {
  withRun(1,
          "[[analysis.region]]\nname = 'hot'\nfield = 'u'\nquantities = ['max']\nstop_if_above = 5\n"
          "[[analysis.probe]]\nname = 'cold'\nfield = 'u'\nat = [0.5, 0.5, 0]\nstop_if_below = 2\n",
          [](Simulation& simulation) {
            const Analysis& analysis = simulation.model().analysis();
            const std::vector<Diagnostic> columns = analysis.diagnostics();
            const auto reached = [&](double hot, double cold) {
              return analysis.reached(columns, std::vector<double>{hot, cold});
            };
            ASSERT_EQ(columns.size(), 2U);
            EXPECT_TRUE(analysis.hasLimits());
            EXPECT_EQ(reached(5.0, 2.0), "");
            EXPECT_EQ(reached(4.0, 6.0), "");
            EXPECT_EQ(reached(5.5, 6.0), "hot.max = 5.5 is above stop_if_above = 5");
            EXPECT_EQ(reached(1.0, 1.5), "cold = 1.5 is below stop_if_below = 2");
          });
}

TEST(Analysis, APlaneHasTheLayerOfCellsThatItCuts) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tessera-planes-" + std::to_string(::getpid()));
  withRun(1, "[[analysis.plane]]\nname = 'cut'\naxis = 'x'\nat = 0.6\nevery_steps = 1\nfields = ['u']\n",
          [&](Simulation& simulation) {
            FieldWriter writer(simulation.transport(), {folder, -1, "cut", FieldPrecision::Float64});
            const FieldWriteResult file =
                writePlane(writer, simulation, simulation.model().analysis().planes().at(0), "");
            ASSERT_TRUE(file.written) << file.failure;
            const FieldReader reader = FieldReader::open(file.path);
            ASSERT_EQ(reader.header().levels.size(), 2U);
            for (std::size_t l = 0; l < 2; ++l) {
              const Level& level = simulation.hierarchy().level(static_cast<LevelId>(l));
              const OutputLevel& cut = reader.header().levels[l];
              std::int64_t rows = 0;
              for (std::size_t p = 0; p < cut.patches.size(); ++p) {
                const Box& box = cut.patches[p];
                EXPECT_EQ(box.lo.i, l == 0 ? 9 : 19);
                EXPECT_EQ(box.hi.i, box.lo.i + 1);
                const std::vector<double> values = reader.values(0, l, static_cast<std::int64_t>(p));
                for (std::int64_t j = box.lo.j; j < box.hi.j; ++j, ++rows) {
                  EXPECT_EQ(values.at(static_cast<std::size_t>(j - box.lo.j)),
                            1.0 + stampAt(level, {box.lo.i, j, 0}));
                }
              }
              EXPECT_EQ(rows, 8);
            }
          });
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tessera
