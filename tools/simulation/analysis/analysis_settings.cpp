#include "tools/simulation/analysis/analysis_settings.hpp"

#include <algorithm>
#include <limits>

#include "core/text/nearest_name.hpp"

namespace tessera {
namespace {

const std::vector<std::string> kQuantities{"integral", "mean", "min", "max"};
constexpr std::int64_t kMostPoints = 256;
constexpr std::int64_t kMostBins = 256;
const char* const kKinds[] = {"region", "probe", "line", "profile", "statistics", "plane"};

ParameterTable& entry(ParameterTable& table, const char* kind, const char* doc, const char* name) {
  ParameterTable& shape = table.arrayOf(kind, doc);
  shape.text("name").doc(name).required();
  shape.text("field")
      .doc("a variable that lives from step to step, of one double a cell, or a component: \"gas.density\"")
      .required();
  return shape;
}

void declareLimit(ParameterTable& shape) {
  shape.real("stop_if_above")
      .doc("end the run where the number is above this")
      .optional()
      .mayChangeOnRestart();
  shape.real("stop_if_below")
      .doc("end the run where the number is below this")
      .optional()
      .mayChangeOnRestart();
}

void checkRegion(const ParameterValues& region, DeckDiagnostics& findings) {
  const std::vector<std::string> chosen = region.texts("quantities");
  for (const std::string& name : chosen) {
    if (std::find(kQuantities.begin(), kQuantities.end(), name) != kQuantities.end()) continue;
    findings.error(region.where("quantities"),
                   "there is no quantity \"" + name + "\"" + didYouMeanOneOf(name, kQuantities));
  }
  const bool hasLimit = region.has("stop_if_above") || region.has("stop_if_below");
  const std::string on = region.choice("stop_on");
  if (hasLimit && std::find(chosen.begin(), chosen.end(), on) == chosen.end()) {
    findings.error(
        region.where("stop_on"),
        "stop_on is \"" + on + "\", which is not among the quantities of the region; add it there");
  }
}

void declareRegion(ParameterTable& table) {
  ParameterTable& region = entry(table, "region", "Integral, mean and extrema over a box, in the history",
                                 "columns of the history begin with it: NAME.mean");
  region.realVector("lower", 3).doc("lower corner; not given: that of the domain").optional();
  region.realVector("upper", 3)
      .doc("upper corner; cells whose centres lie in the box count, where no finer cell covers them")
      .optional();
  region.textList("quantities")
      .doc("any of integral, mean, min and max")
      .defaultsTo(std::vector<std::string>{"integral", "mean", "min", "max"});
  region.choice("stop_on", kQuantities)
      .doc("the quantity that stop_if_above and stop_if_below check")
      .defaultsTo("max")
      .mayChangeOnRestart();
  declareLimit(region);
  region.check(checkRegion);
}

void declarePoints(ParameterTable& table) {
  ParameterTable& probe = entry(table, "probe", "The value of the cell that a point lies in, in the history",
                                "the column of the history");
  probe.realVector("at", 3).doc("the point").required();
  declareLimit(probe);
  ParameterTable& line = entry(table, "line", "Values at equal distances on a line, in the history",
                               "columns of the history: NAME.000, NAME.001 ...");
  line.realVector("from", 3).doc("the first point").required();
  line.realVector("to", 3).doc("the last point").required();
  line.integer("points").doc("how many, both ends included").range(2, kMostPoints).required();
}

void declareProfile(ParameterTable& table) {
  ParameterTable& profile = entry(table, "profile", "Means over shells around a point, in the history",
                                  "columns of the history: NAME.000 (the innermost), NAME.001 ...");
  profile.realVector("centre", 3).doc("the point").required();
  profile.real("radius").doc("outer radius of the last shell").above(0).required();
  profile.integer("bins")
      .doc("number of shells of equal width; a shell without a cell centre is nan")
      .range(1, kMostBins)
      .required();
}

void declareStatistics(ParameterTable& table) {
  ParameterTable& statistics =
      entry(table, "statistics", "Mean and variance in time of each cell, as variables",
            "the variables NAME.mean and NAME.variance, or NAME.mean, NAME.mean_with and NAME.covariance");
  statistics.text("with").doc("another variable: covariance in place of variance").optional();
  statistics.real("from")
      .doc("the time that they begin at; each state counts with the length of the step that begins with it")
      .defaultsTo(0.0);
}

void declarePlane(ParameterTable& table) {
  ParameterTable& plane = table.arrayOf("plane", "The cells that a plane cuts, as files in RUN/planes");
  plane.text("name").doc("files: NAME_000120.hdf, and NAME.hdf.series").required();
  plane.textList("fields").doc("variables that live from step to step, of numbers per cell").required();
  plane.choice("axis", {"x", "y", "z"}).doc("normal to the plane").required();
  plane.real("at").doc("its place on the axis").unit("length").required();
  plane.integer("every_steps")
      .doc("steps between files; the first and the last state have one too")
      .atLeast(1)
      .required()
      .mayChangeOnRestart();
}

/// Names are columns, variables and files, so each is there once.
void checkNames(const ParameterValues& analysis, DeckDiagnostics& findings) {
  std::vector<std::string> seen;
  for (const char* kind : kKinds) {
    for (const ParameterValues& one : analysis.tables(kind)) {
      const std::string& name = one.text("name");
      const bool good =
          !name.empty() && name.size() <= 60 &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
              std::string::npos;
      if (!good) {
        findings.error(one.where("name"), "\"" + name +
                                              "\" is not a valid name for an analysis; use 1 to 60 letters, "
                                              "digits, '_' and '-'");
      } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
        findings.error(one.where("name"), "two analyses are named \"" + name + "\"; rename one");
      }
      seen.push_back(name);
    }
  }
}

AnalysisLimit limitOf(const ParameterValues& values) {
  AnalysisLimit limit;
  if (values.has("stop_if_above")) limit.above = values.real("stop_if_above");
  if (values.has("stop_if_below")) limit.below = values.real("stop_if_below");
  return limit;
}

AnalysisRegion regionOf(const ParameterValues& values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  AnalysisRegion region{
      values.text("name"), values.text("field"), {}, {}, values.texts("quantities"), values.choice("stop_on"),
      limitOf(values),     values.tableWhere()};
  region.lower = values.has("lower") ? values.vector3("lower") : Real3{-kInfinity, -kInfinity, -kInfinity};
  region.upper = values.has("upper") ? values.vector3("upper") : Real3{kInfinity, kInfinity, kInfinity};
  return region;
}

AnalysisProbe pointsOf(const ParameterValues& values) {
  AnalysisProbe line{values.text("name"), values.text("field"), {}, {}, values.tableWhere()};
  const Real3 from = values.vector3("from");
  const Real3 to = values.vector3("to");
  const std::int64_t count = values.integer("points");
  for (std::int64_t n = 0; n < count; ++n) {
    const double part = static_cast<double>(n) / static_cast<double>(count - 1);
    Real3 place;
    for (int d = 0; d < kAxes; ++d) place[d] = n + 1 == count ? to[d] : from[d] + part * (to[d] - from[d]);
    line.places.push_back(place);
  }
  return line;
}

}  // namespace

ParameterTable analysisTable() {
  ParameterTable table("analysis", "Numbers computed from the fields during the run");
  table.choice("format", {"csv", "hdf5"})
      .doc(
          "where the numbers of regions, probes, lines and profiles go: csv, columns of history.csv; hdf5, "
          "arrays of analysis.hdf, one for each of them")
      .defaultsTo("csv");
  declareRegion(table);
  declarePoints(table);
  declareProfile(table);
  declareStatistics(table);
  declarePlane(table);
  table.check(checkNames);
  return table;
}

AnalysisSettings analysisSettingsOf(const ParameterValues& analysis) {
  AnalysisSettings settings;
  if (analysis.choice("format") == "hdf5") settings.format = AnalysisFormat::Hdf5;
  for (const ParameterValues& one : analysis.tables("region")) settings.regions.push_back(regionOf(one));
  for (const ParameterValues& one : analysis.tables("probe")) {
    settings.probes.push_back(
        {one.text("name"), one.text("field"), {one.vector3("at")}, limitOf(one), one.tableWhere()});
  }
  for (const ParameterValues& one : analysis.tables("line")) settings.probes.push_back(pointsOf(one));
  for (const ParameterValues& one : analysis.tables("profile")) {
    settings.profiles.push_back({one.text("name"), one.text("field"), one.vector3("centre"),
                                 one.real("radius"), one.integer("bins"), one.tableWhere()});
  }
  for (const ParameterValues& one : analysis.tables("statistics")) {
    settings.statistics.push_back({one.text("name"), one.text("field"),
                                   one.has("with") ? one.text("with") : std::string(), one.real("from"),
                                   one.tableWhere()});
  }
  for (const ParameterValues& one : analysis.tables("plane")) {
    settings.planes.push_back({one.text("name"), one.texts("fields"), one.choice("axis")[0] - 'x',
                               one.real("at"), one.integer("every_steps"), one.tableWhere()});
  }
  return settings;
}

}  // namespace tessera
