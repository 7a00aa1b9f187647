#pragma once

#include <span>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"
#include "tools/simulation/analysis/analysis_field.hpp"
#include "tools/simulation/analysis/analysis_settings.hpp"

namespace tessera {

/// A plane of the deck, with the variables that it names.
struct PlaneOfFields {
  AnalysisPlane plane;
  std::vector<PlaneField> fields;
};

/// The tasks behind the deck's [analysis]: columns of the history over regions, at points and in shells, and
/// statistics in time as variables. Sums are exact, and every cell is looked at by itself, so all numbers
/// have the same bits for any patches, ranks and threads; statistics live in checkpoints as any variable
/// does. A cell that finer ones cover does not count. A plain value, kept by the model.
///
///   Analysis analysis(settings, labels, persistent, geometry);   // throws DeckError
///   analysis.declareDiagnostics(plan);
class Analysis {
 public:
  Analysis() = default;
  /// `persistent`: the variables of the components that live from step to step. Throws DeckError naming what
  /// is no such variable, and points and boxes that hold no cell.
  Analysis(AnalysisSettings settings, LabelTable& labels, std::span<const LabelId> persistent,
           const Geometry& geometry);

  void declareInitial(StepPlan& plan) const;
  /// Into every plan that is a whole step, or into a plan of its own that a step program runs first.
  void declareStep(StepPlan& plan) const;
  /// Whether `declareStep` declares tasks.
  bool hasStatistics() const { return !moments_.empty(); }
  /// Tasks that read Old and contribute.
  void declareDiagnostics(StepPlan& plan) const;
  /// Their columns, in the order of the deck's kinds: regions, probes and lines, profiles.
  std::vector<Diagnostic> diagnostics() const;

  /// What the deck asks for, in its words.
  const AnalysisSettings& settings() const { return settings_; }
  /// Planes to be written.
  const std::vector<PlaneOfFields>& planes() const { return planes_; }

  /// Whether a number can end the run: lines of the history are then waited for at once, so that all runs
  /// end at the same step.
  bool hasLimits() const;
  /// Why the run has to end, of a line of the history by its columns; empty: it goes on.
  std::string reached(std::span<const Diagnostic> columns, std::span<const double> values) const;

 private:
  struct Region {
    AnalysisField field;
    ReductionLabel integral, volume, least, largest;
    std::string unit, unitOfIntegral;
  };
  struct Probe {
    AnalysisField field;
    std::vector<ReductionLabel> values;
    std::string unit;
  };
  struct Profile {
    AnalysisField field;
    std::vector<ReductionLabel> integrals, volumes;
    std::string unit;
  };
  struct Moments {
    AnalysisField field, other;
    Label<double, Cell> mean, meanOther, second;
    bool isCovariance = false;
  };

  void declareRegions(StepPlan& plan) const;
  void declareProbes(StepPlan& plan) const;
  void declareProfiles(StepPlan& plan) const;

  AnalysisSettings settings_;
  std::vector<Region> regions_;
  std::vector<Probe> probes_;
  std::vector<Profile> profiles_;
  std::vector<Moments> moments_;
  std::vector<PlaneOfFields> planes_;
};

}  // namespace tessera
