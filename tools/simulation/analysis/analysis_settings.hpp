#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/deck/schema.hpp"
#include "core/geometry/index.hpp"

namespace tessera {

/// A number of the history that ends the run: above or below a limit. A run that it ends is done, with exit
/// code 0; the limit is looked at whenever a line of the history is written.
struct AnalysisLimit {
  std::optional<double> above;
  std::optional<double> below;
  bool isSet() const { return above || below; }
};

/// `[[analysis.region]]`: sums and extrema of a variable over the cells whose centres lie in a box.
struct AnalysisRegion {
  std::string name;
  std::string field;
  Real3 lower;
  Real3 upper;
  std::vector<std::string> quantities;  ///< of kRegionQuantities
  std::string limitOn;                  ///< one of `quantities`
  AnalysisLimit limit;
  DeckLocation where;
};

/// `[[analysis.probe]]` and `[[analysis.line]]`: the values of the cells that points lie in.
struct AnalysisProbe {
  std::string name;
  std::string field;
  std::vector<Real3> places;  ///< one of a probe; from end to end of a line
  AnalysisLimit limit;        ///< of a probe
  DeckLocation where;
};

/// `[[analysis.profile]]`: means of a variable over shells around a point.
struct AnalysisProfile {
  std::string name;
  std::string field;
  Real3 centre;
  double radius = 1.0;
  std::int64_t bins = 1;
  DeckLocation where;
};

/// `[[analysis.statistics]]`: mean, variance or covariance in time of each cell, as variables of their own.
struct AnalysisStatistics {
  std::string name;
  std::string field;
  std::string other;  ///< of a covariance; empty: none
  double from = 0.0;  ///< the time that it begins at
  DeckLocation where;
};

/// `[[analysis.plane]]`: the cells that a plane cuts, as files of their own.
struct AnalysisPlane {
  std::string name;
  std::vector<std::string> fields;
  int axis = 2;     ///< normal to the plane
  double at = 0.0;  ///< its place on the axis
  std::int64_t everySteps = 1;
  DeckLocation where;
};

/// Where the numbers of regions, probes, lines and profiles go.
enum class AnalysisFormat {
  Csv,   ///< columns of history.csv
  Hdf5,  ///< arrays of analysis.hdf
};

/// All that the deck's [analysis] asks for.
struct AnalysisSettings {
  AnalysisFormat format = AnalysisFormat::Csv;
  std::vector<AnalysisRegion> regions;
  std::vector<AnalysisProbe> probes;
  std::vector<AnalysisProfile> profiles;
  std::vector<AnalysisStatistics> statistics;
  std::vector<AnalysisPlane> planes;
};

/// The table [analysis], whose entries are `[[analysis.region]]` and so on, with its rules.
ParameterTable analysisTable();

/// What [analysis] says. The values have passed `check`.
AnalysisSettings analysisSettingsOf(const ParameterValues& analysis);

}  // namespace tessera
