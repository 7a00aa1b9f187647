#include "tools/simulation/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/deck/deck_diagnostics.hpp"
#include "core/text/unit_product.hpp"
#include "tools/simulation/analysis/analysis_tasks.hpp"
#include "tools/simulation/analysis/field_finder.hpp"
#include "tools/simulation/run_folder/history.hpp"

namespace tessera {
namespace {

std::string numbered(const std::string& name, std::size_t n) {
  char text[24];
  std::snprintf(text, sizeof text, ".%03zu", n);
  return name + text;
}

std::string unitOf(const LabelTable& labels, const AnalysisField& field) {
  if (field.variable < 0) return {};
  const LabelInfo& info = labels.info(field.variable);
  return field.component < 0 ? info.unit : info.components[static_cast<std::size_t>(field.component)].unit;
}

/// Empty where one of both is not known.
std::string productOf(const std::string& unit, const std::string& other) {
  return unit.empty() || other.empty() ? std::string() : unit + " * " + other;
}

void checkPlaces(const AnalysisProbe& probe, const Geometry& geometry, DeckDiagnostics& findings) {
  for (const Real3& place : probe.places) {
    for (int d = 0; d < kAxes; ++d) {
      if (!geometry.active(d) || (place[d] >= geometry.lower[d] && place[d] <= geometry.upper[d])) continue;
      findings.error(probe.where,
                     "the analysis \"" + probe.name + "\" has a point outside of the domain along " +
                         std::string(1, "xyz"[d]) + "; keep it between grid.lower and grid.upper");
      return;
    }
  }
}

void checkPlane(const AnalysisPlane& plane, const Geometry& geometry, DeckDiagnostics& findings) {
  if (plane.fields.empty())
    findings.error(plane.where, "the plane \"" + plane.name + "\" names no field; give it one");
  if (plane.at >= geometry.lower[plane.axis] && plane.at <= geometry.upper[plane.axis]) return;
  findings.error(plane.where, "the plane \"" + plane.name + "\" lies outside of the domain along " +
                                  std::string(1, "xyz"[plane.axis]) +
                                  "; keep it between grid.lower and grid.upper");
}

double spacingOf(const Geometry& geometry, int axis) {
  return (geometry.upper[axis] - geometry.lower[axis]) / static_cast<double>(geometry.cells[axis]);
}

/// On level 0; finer levels have faces where the coarser one has.
void checkPlaneOfFaces(const AnalysisRegion& region, const Geometry& geometry, int axis,
                       DeckDiagnostics& findings) {
  constexpr double kNear = 1e-6;  // parts of a cell
  const double h = spacingOf(geometry, axis);
  const double at = (region.lower[axis] - geometry.lower[axis]) / h;
  const auto last = static_cast<double>(geometry.cells[axis]);
  if (at >= -kNear && at <= last + kNear && std::abs(at - std::round(at)) <= kNear) return;
  const double below = std::clamp(std::floor(at), 0.0, last - 1.0);
  const std::string name(1, "xyz"[axis]);
  findings.error(region.where, "the box of the analysis \"" + region.name + "\" is flat along " + name +
                                   " where there are no faces; put it at " + name + " = " +
                                   shortestText(geometry.lower[axis] + below * h) + " or " +
                                   shortestText(geometry.lower[axis] + (below + 1.0) * h));
}

/// On level 0; finer levels have a cell where the coarser one has.
void checkHoldsACell(const AnalysisRegion& region, Centering centering, const Geometry& geometry,
                     DeckDiagnostics& findings) {
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    if (d == normalOf(centering) && isPlaneOfFaces(geometry, centering, region.lower, region.upper)) {
      checkPlaneOfFaces(region, geometry, d, findings);
      continue;
    }
    const double h = spacingOf(geometry, d);
    const double lower = std::max(region.lower[d], geometry.lower[d]);
    const double upper = std::min(region.upper[d], geometry.upper[d]);
    if (std::ceil((lower - geometry.lower[d]) / h - 0.5) < std::ceil((upper - geometry.lower[d]) / h - 0.5))
      continue;
    findings.error(region.where, "the box of the analysis \"" + region.name +
                                     "\" holds no centre of a cell along " + std::string(1, "xyz"[d]) +
                                     "; make it larger than a cell, within the domain");
    return;
  }
}

}  // namespace

Analysis::Analysis(AnalysisSettings settings, LabelTable& labels, std::span<const LabelId> persistent,
                   const Geometry& geometry)
    : settings_(std::move(settings)) {
  DeckDiagnostics findings;
  FieldFinder fields("[analysis]", labels, persistent, findings);
  const auto named = [&](const std::string& name, const char* what) {
    return labels.reduction("analysis." + name + what);
  };
  for (const AnalysisRegion& region : settings_.regions) {
    const AnalysisField field = fields.find(region.field, region.where);
    if (field.variable >= 0) checkHoldsACell(region, field.centering, geometry, findings);
    const std::string unit = unitOf(labels, field);
    const bool isPlane = isPlaneOfFaces(geometry, field.centering, region.lower, region.upper);
    regions_.push_back({field, named(region.name, ".integral"), named(region.name, ".volume"),
                        named(region.name, ".min"), named(region.name, ".max"), unit,
                        productOf(unit, isPlane ? "length^2" : "length^3")});
  }
  for (const AnalysisProbe& probe : settings_.probes) {
    checkPlaces(probe, geometry, findings);
    probes_.push_back({fields.find(probe.field, probe.where), {}, {}});
    probes_.back().unit = unitOf(labels, probes_.back().field);
    for (std::size_t n = 0; n < probe.places.size(); ++n)
      probes_.back().values.push_back(named(numbered(probe.name, n), ""));
  }
  for (const AnalysisProfile& profile : settings_.profiles) {
    profiles_.push_back({fields.find(profile.field, profile.where), {}, {}, {}});
    profiles_.back().unit = unitOf(labels, profiles_.back().field);
    for (std::size_t n = 0; n < static_cast<std::size_t>(profile.bins); ++n) {
      profiles_.back().integrals.push_back(named(numbered(profile.name, n), ".integral"));
      profiles_.back().volumes.push_back(named(numbered(profile.name, n), ".volume"));
    }
  }
  for (const AnalysisStatistics& statistics : settings_.statistics) {
    Moments moments;
    moments.isCovariance = !statistics.other.empty();
    moments.field = fields.find(statistics.field, statistics.where);
    moments.other = moments.isCovariance ? fields.find(statistics.other, statistics.where) : moments.field;
    const std::string unit = unitOf(labels, moments.field);
    const std::string other = unitOf(labels, moments.other);
    moments.mean = labels.variable<double, Cell>(statistics.name + ".mean", unit);
    if (moments.isCovariance)
      moments.meanOther = labels.variable<double, Cell>(statistics.name + ".mean_with", other);
    moments.second =
        labels.variable<double, Cell>(statistics.name + (moments.isCovariance ? ".covariance" : ".variance"),
                                      unitProduct(productOf(unit, other)));
    moments_.push_back(moments);
  }
  for (const AnalysisPlane& plane : settings_.planes) {
    checkPlane(plane, geometry, findings);
    planes_.push_back({plane, fields.ofPlane(plane.fields, plane.where)});
  }
  findings.throwIfErrors();
}

void Analysis::declareInitial(StepPlan& plan) const {
  const auto zero = [](const auto& task, Label<double, Cell> label) {
    const auto field = task.write(label);
    forEachCell(task.interior(), [&](Index x) { field(x) = 0.0; });
  };
  for (std::size_t n = 0; n < moments_.size(); ++n) {
    const Moments& m = moments_[n];
    TaskBuilder builder = plan.task("Analysis::begin " + settings_.statistics[n].name);
    builder.writes(m.mean).writes(m.second);
    if (m.isCovariance) builder.writes(m.meanOther);
    builder.runs<Cpu>([m, zero](const auto& t) {
      zero(t, m.mean);
      zero(t, m.second);
      if (m.isCovariance) zero(t, m.meanOther);
    });
  }
}

void Analysis::declareStep(StepPlan& plan) const {
  for (std::size_t n = 0; n < moments_.size(); ++n) {
    const Moments& m = moments_[n];
    const double from = settings_.statistics[n].from;
    TaskBuilder builder = plan.task("Analysis::statistics " + settings_.statistics[n].name);
    reads(builder, m.field).reads(Old, m.mean).reads(Old, m.second).writes(m.mean).writes(m.second);
    if (m.isCovariance) builder.reads(Old, m.meanOther).writes(m.meanOther);
    if (m.other.variable != m.field.variable) reads(builder, m.other);
    builder.runs<Cpu>([m, from](const auto& task) {
      const StateWeight weight = weightOf(task.time(), task.dt(), from);
      const double sum = weight.before + weight.now;
      const double part = sum > 0.0 ? weight.now / sum : 0.0;
      const auto u = valuesOf(task, m.field);
      const auto mean = task.read(Old, m.mean);
      const auto second = task.read(Old, m.second);
      const auto newMean = task.write(m.mean);
      const auto newSecond = task.write(m.second);
      // The weighted form of Welford's update, which loses no digits where the mean is large.
      const auto update = [&](Index x, double other, double otherMean) {
        const double apart = u(x) - mean(x);
        const double otherNow = otherMean + part * (other - otherMean);
        newMean(x) = mean(x) + part * apart;
        newSecond(x) = (1.0 - part) * second(x) + part * apart * (other - otherNow);
        return otherNow;
      };
      if (m.isCovariance) {
        const auto v = valuesOf(task, m.other);
        const auto meanOther = task.read(Old, m.meanOther);
        const auto newMeanOther = task.write(m.meanOther);
        forEachCell(task.interior(), [&](Index x) { newMeanOther(x) = update(x, v(x), meanOther(x)); });
      } else {
        forEachCell(task.interior(), [&](Index x) { update(x, u(x), mean(x)); });
      }
    });
  }
}

void Analysis::declareDiagnostics(StepPlan& plan) const {
  declareRegions(plan);
  declareProbes(plan);
  declareProfiles(plan);
}

void Analysis::declareRegions(StepPlan& plan) const {
  for (std::size_t n = 0; n < regions_.size(); ++n) {
    const Region r = regions_[n];
    TaskBuilder builder = plan.task("Analysis::region " + settings_.regions[n].name);
    reads(builder, r.field)
        .contributes(r.integral, Sum)
        .contributes(r.volume, Sum)
        .contributes(r.least, Min)
        .contributes(r.largest, Max)
        .runs<Cpu>([r, lower = settings_.regions[n].lower,
                    upper = settings_.regions[n].upper](const auto& task) {
          const RegionSums sums =
              sumsOver(task, valuesOf(task, r.field), partOf(task.level(), r.field.centering, lower, upper));
          task.contribute(r.integral, sums.integral);
          task.contribute(r.volume, sums.volume);
          task.contribute(r.least, sums.least);
          task.contribute(r.largest, sums.largest);
        });
  }
}

void Analysis::declareProbes(StepPlan& plan) const {
  for (std::size_t n = 0; n < probes_.size(); ++n) {
    TaskBuilder builder = plan.task("Analysis::probe " + settings_.probes[n].name);
    reads(builder, probes_[n].field);
    for (const ReductionLabel value : probes_[n].values) builder.contributes(value, Sum);
    builder.runs<Cpu>([p = probes_[n], places = settings_.probes[n].places](const auto& task) {
      const auto u = valuesOf(task, p.field);
      for (std::size_t m = 0; m < places.size(); ++m) {
        ExactSum value;
        const Index cell = cellAt(task.level(), places[m]);
        if (hasFinest(task, cell)) value.add(u(cell));
        task.contribute(p.values[m], value);
      }
    });
  }
}

void Analysis::declareProfiles(StepPlan& plan) const {
  for (std::size_t n = 0; n < profiles_.size(); ++n) {
    TaskBuilder builder = plan.task("Analysis::profile " + settings_.profiles[n].name);
    reads(builder, profiles_[n].field);
    for (const ReductionLabel sum : profiles_[n].integrals) builder.contributes(sum, Sum);
    for (const ReductionLabel sum : profiles_[n].volumes) builder.contributes(sum, Sum);
    builder.runs<Cpu>([p = profiles_[n], s = settings_.profiles[n]](const auto& task) {
      const double width = s.radius / static_cast<double>(s.bins);
      contributeShells(task, valuesOf(task, p.field), s.centre, width, p.integrals, p.volumes);
    });
  }
}

std::vector<Diagnostic> Analysis::diagnostics() const {
  std::vector<Diagnostic> columns;
  for (std::size_t n = 0; n < regions_.size(); ++n) {
    const Region& r = regions_[n];
    for (const std::string& quantity : settings_.regions[n].quantities) {
      const std::string name = settings_.regions[n].name + "." + quantity;
      if (quantity == "integral")
        columns.push_back({.name = name, .reduction = r.integral, .unit = r.unitOfIntegral});
      if (quantity == "mean")
        columns.push_back({.name = name, .reduction = r.integral, .per = r.volume, .unit = r.unit});
      if (quantity == "min") columns.push_back({.name = name, .reduction = r.least, .unit = r.unit});
      if (quantity == "max") columns.push_back({.name = name, .reduction = r.largest, .unit = r.unit});
    }
  }
  for (std::size_t n = 0; n < probes_.size(); ++n) {
    const std::string& name = settings_.probes[n].name;
    const bool isLine = probes_[n].values.size() > 1;
    for (std::size_t m = 0; m < probes_[n].values.size(); ++m)
      columns.push_back({.name = isLine ? numbered(name, m) : name,
                         .reduction = probes_[n].values[m],
                         .unit = probes_[n].unit});
  }
  for (std::size_t n = 0; n < profiles_.size(); ++n) {
    for (std::size_t m = 0; m < profiles_[n].integrals.size(); ++m) {
      columns.push_back({.name = numbered(settings_.profiles[n].name, m),
                         .reduction = profiles_[n].integrals[m],
                         .per = profiles_[n].volumes[m],
                         .unit = profiles_[n].unit});
    }
  }
  return columns;
}

bool Analysis::hasLimits() const {
  const auto isSet = [](const auto& one) { return one.limit.isSet(); };
  return std::any_of(settings_.regions.begin(), settings_.regions.end(), isSet) ||
         std::any_of(settings_.probes.begin(), settings_.probes.end(), isSet);
}

std::string Analysis::reached(std::span<const Diagnostic> columns, std::span<const double> values) const {
  const auto passed = [&](const std::string& column, const AnalysisLimit& limit) {
    for (std::size_t n = 0; n < columns.size() && n < values.size(); ++n) {
      if (columns[n].name != column) continue;
      if (limit.above && values[n] > *limit.above)
        return column + " = " + shortestText(values[n]) +
               " is above stop_if_above = " + shortestText(*limit.above);
      if (limit.below && values[n] < *limit.below)
        return column + " = " + shortestText(values[n]) +
               " is below stop_if_below = " + shortestText(*limit.below);
    }
    return std::string();
  };
  for (const AnalysisRegion& region : settings_.regions) {
    if (std::string why = passed(region.name + "." + region.limitOn, region.limit); !why.empty()) return why;
  }
  for (const AnalysisProbe& probe : settings_.probes) {
    if (std::string why = passed(probe.name, probe.limit); !why.empty()) return why;
  }
  return {};
}

}  // namespace tessera
