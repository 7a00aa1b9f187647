#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "core/philox.hpp"
#include "core/text/error.hpp"
#include "tools/jobs/cluster/host_tree.hpp"
#include "tools/jobs/cluster/job_tree.hpp"
#include "tools/jobs/job_program.hpp"
#include "tools/jobs/png_image.hpp"

namespace tessera::jobs {
namespace {

ParameterTable clusterTable() {
  ParameterTable table("barnes_hut",
                       "A cluster of stars (Plummer's model) by Barnes and Hut; G = M = 1, E = -1/4");
  table.integer("stars").doc("points of equal mass").range(2, 1 << 24).defaultsTo(4096);
  table.integer("seed").doc("of the random numbers").range(0, 1 << 30).defaultsTo(1);
  table.real("theta")
      .doc("side over distance up to which a cell is taken as a whole; 0: none")
      .range(0, 2)
      .defaultsTo(0.5);
  table.boolean("quadrupole").doc("of cells, beside their mass").defaultsTo(true);
  table.real("softening").doc("length that is added to distances, by squares").atLeast(0).defaultsTo(0.05);
  table.choice("tree", {"host", "jobs"})
      .doc("who builds the tree: a thread of the host, or jobs on all devices; its bits are the same")
      .defaultsTo("host");
  table.integer("leaf").doc("points of a leaf, at most").range(1, 1024).defaultsTo(8);
  table.integer("steps").doc("of time").range(0, 1000000).defaultsTo(0);
  table.real("dt").doc("of a step (leapfrog)").above(0).defaultsTo(0.01);
  table.integer("targets")
      .doc("stars whose forces are compared with the direct sum")
      .range(1, 1 << 20)
      .defaultsTo(1000);
  return table;
}

/// The stars, and where their field is computed.
struct Cluster {
  std::vector<MassPoint> stars;
  std::vector<Real3> velocities;
  Domain<FieldValue> field;  ///< in the tree's order

  explicit Cluster(std::int64_t count) : field("field", {count, 1, 1}) {}
};

double uniform(std::int64_t seed, std::uint32_t star, std::uint32_t draw) {
  return unitReal(philox({star, draw, 0, 0}, {static_cast<std::uint32_t>(seed), 0}).x);
}

Real3 onSphere(std::int64_t seed, std::uint32_t star, std::uint32_t draw, double radius) {
  const double z = 2.0 * uniform(seed, star, draw) - 1.0;
  const double angle = 2.0 * M_PI * uniform(seed, star, draw + 1);
  const double across = std::sqrt(1.0 - z * z);
  return {radius * across * std::cos(angle), radius * across * std::sin(angle), radius * z};
}

/// Radii by the mass within them, speeds by rejection from q^2 (1 - q^2)^(7/2).
void makePlummer(Cluster& cluster, std::int64_t count, std::int64_t seed) {
  constexpr double kScale = 3.0 * M_PI / 16.0;
  Real3 place;
  Real3 speed;
  for (std::uint32_t n = 0; n < count; ++n) {
    std::uint32_t draw = 0;
    double radius = 0.0;
    do radius = kScale / std::sqrt(std::pow(uniform(seed, n, draw++), -2.0 / 3.0) - 1.0);
    while (radius > 22.8 * kScale);
    draw = 100;
    double q = 0.0;
    do q = uniform(seed, n, draw++);
    while (0.1 * uniform(seed, n, draw++) > q * q * std::pow(1.0 - q * q, 3.5));
    const double escape = std::sqrt(2.0) * std::pow(radius * radius + kScale * kScale, -0.25);
    cluster.stars.push_back({onSphere(seed, n, 1000, radius), 1.0 / static_cast<double>(count)});
    cluster.velocities.push_back(onSphere(seed, n, 1010, q * escape));
    place = place + (1.0 / static_cast<double>(count)) * cluster.stars.back().at;
    speed = speed + (1.0 / static_cast<double>(count)) * cluster.velocities.back();
  }
  for (std::size_t n = 0; n < cluster.stars.size(); ++n) {
    cluster.stars[n].at = cluster.stars[n].at - place;
    cluster.velocities[n] = cluster.velocities[n] - speed;
  }
}

/// Fields of all stars, in their own order.
class FieldSolver {
 public:
  FieldSolver(const ParameterValues& deck, Cluster& cluster, DeckRun& run)
      : cluster_(cluster), run_(run), job_("barnes_hut", cluster.field.box().extent()) {
    body_.theta = deck.real("theta");
    body_.softening2 = deck.real("softening") * deck.real("softening");
    body_.hasQuadrupole = deck.boolean("quadrupole");
    const std::int64_t count = cluster.field.box().hi.i;
    const auto leaf = static_cast<std::int32_t>(deck.integer("leaf"));
    if (deck.choice("tree") == "jobs") {
      tree_ = std::make_unique<JobTree>(count, leaf, [this](Job& job) { run_.runJob(job, job.forms()); });
    } else {
      tree_ = std::make_unique<HostTree>(count, leaf);
    }
    job_.reads(tree_->points()).reads(tree_->cells()).writes(cluster.field);
    job_.cutAlong(0, std::clamp<std::int64_t>(count / 1024, 1, 256));
    job_.partition([this](const Box&, PartList& parts) {
      parts.set(tree_->cells(), {{0, 0, 0}, {body_.cellCount, 1, 1}});
    });
    job_.runs<TreeBody>(treeKernels(), [this](const TaskData& task) {
      TreeBody body = body_;
      body.points = task.read(tree_->points());
      body.cells = task.read(tree_->cells());
      body.field = task.write(cluster_.field);
      return body;
    });
  }

  std::vector<FieldValue> solve() {
    tree_->build(cluster_.stars);
    body_.cellCount = tree_->cellCount();
    seconds_ += run_.runJob(job_).seconds;
    ++solves_;
    std::vector<FieldValue> field(cluster_.stars.size());
    for (std::size_t n = 0; n < field.size(); ++n)
      field[tree_->pointAt(static_cast<std::int64_t>(n))] = cluster_.field.values()[n];
    return field;
  }
  /// By the sum over all stars.
  FieldValue directSum(std::size_t star) const {
    FieldValue sum;
    for (std::size_t n = 0; n < cluster_.stars.size(); ++n) {
      if (n != star) body_.addPoint(sum, cluster_.stars[n], cluster_.stars[star].at);
    }
    return sum;
  }
  double starsPerSecond() const {
    return static_cast<double>(solves_ * std::ssize(cluster_.stars)) / seconds_;
  }

 private:
  Cluster& cluster_;
  DeckRun& run_;
  std::unique_ptr<StarTree> tree_;
  Job job_;
  TreeBody body_;
  double seconds_ = 0.0;
  std::int64_t solves_ = 0;
};

struct Energies {
  double kinetic = 0.0;
  double potential = 0.0;
};

Energies energiesOf(const Cluster& cluster, const std::vector<FieldValue>& field) {
  Energies sum;
  for (std::size_t n = 0; n < field.size(); ++n) {
    sum.kinetic += 0.5 * cluster.stars[n].mass * dot(cluster.velocities[n], cluster.velocities[n]);
    sum.potential += 0.5 * cluster.stars[n].mass * field[n].potential;
  }
  return sum;
}

/// Errors of forces over the force, against the direct sum; also as a table.
void compareForces(const FieldSolver& solver, const std::vector<FieldValue>& field, std::int64_t targets,
                   const std::filesystem::path& folder, std::vector<JobNumber>& numbers) {
  std::vector<double> errors;
  double interactions = 0.0;
  const auto count = static_cast<std::int64_t>(field.size());
  targets = std::min(targets, count);
  std::ofstream out(folder / "forces.csv");
  out << "star,force,relative_error,interactions\n";
  for (std::int64_t n = 0; n < targets; ++n) {
    const auto star = static_cast<std::size_t>(n * count / targets);
    const Real3 right = solver.directSum(star).acceleration;
    const Real3 off = field[star].acceleration - right;
    errors.push_back(std::sqrt(dot(off, off) / dot(right, right)));
    interactions += field[star].interactions / static_cast<double>(targets);
    out << star << ',' << std::sqrt(dot(right, right)) << ',' << errors.back() << ','
        << field[star].interactions << '\n';
  }
  if (!out.flush()) throw OutputError("cannot write " + (folder / "forces.csv").string());
  double squares = 0.0;
  for (const double error : errors) squares += error * error / static_cast<double>(targets);
  std::ranges::sort(errors);
  numbers.push_back({"rms_error", std::sqrt(squares)});
  numbers.push_back({"median_error", errors[errors.size() / 2]});
  numbers.push_back({"error_99", errors[errors.size() * 99 / 100]});
  numbers.push_back({"interactions", interactions});
}

void writeCluster(const Cluster& cluster, const std::filesystem::path& file) {
  constexpr std::int64_t kPixels = 256;
  constexpr double kReach = 3.0;
  std::vector<double> counts(kPixels * kPixels, 0.0);
  for (const MassPoint& star : cluster.stars) {
    const auto i = static_cast<std::int64_t>(std::floor((star.at.x / kReach + 1.0) * 0.5 * kPixels));
    const auto j = static_cast<std::int64_t>(std::floor((star.at.y / kReach + 1.0) * 0.5 * kPixels));
    if (i >= 0 && i < kPixels && j >= 0 && j < kPixels)
      counts[static_cast<std::size_t>(i + kPixels * j)] += 1.0;
  }
  const double most = std::log1p(*std::ranges::max_element(counts));
  PngImage image(kPixels, kPixels);
  for (std::int64_t j = 0; j < kPixels; ++j) {
    for (std::int64_t i = 0; i < kPixels; ++i)
      image.setGrey(i, kPixels - 1 - j, std::log1p(counts[static_cast<std::size_t>(i + kPixels * j)]) / most);
  }
  image.write(file);
}

std::vector<JobNumber> runCluster(const ParameterValues& deck, DeckRun& run) {
  Cluster cluster(deck.integer("stars"));
  makePlummer(cluster, deck.integer("stars"), deck.integer("seed"));
  FieldSolver solver(deck, cluster, run);
  run.expected = deck.integer("stars") * (deck.integer("steps") + 1);
  std::vector<FieldValue> field = solver.solve();
  std::vector<JobNumber> numbers;
  compareForces(solver, field, deck.integer("targets"), run.folder, numbers);
  const Energies before = energiesOf(cluster, field);
  double drift = 0.0;
  const double dt = deck.real("dt");
  for (std::int64_t step = 0; step < deck.integer("steps"); ++step) {
    for (std::size_t n = 0; n < field.size(); ++n) {
      cluster.velocities[n] = cluster.velocities[n] + (0.5 * dt) * field[n].acceleration;
      cluster.stars[n].at = cluster.stars[n].at + dt * cluster.velocities[n];
    }
    field = solver.solve();
    for (std::size_t n = 0; n < field.size(); ++n)
      cluster.velocities[n] = cluster.velocities[n] + (0.5 * dt) * field[n].acceleration;
    const Energies now = energiesOf(cluster, field);
    const double all = before.kinetic + before.potential;
    drift = std::max(drift, std::abs((now.kinetic + now.potential - all) / all));
  }
  numbers.push_back({"energy", before.kinetic + before.potential});
  numbers.push_back({"virial", 2.0 * before.kinetic + before.potential});
  numbers.push_back({"energy_drift", drift});
  numbers.push_back({"stars_per_second", solver.starsPerSecond()});
  writeCluster(cluster, run.folder / "cluster.png");
  return numbers;
}

}  // namespace

JobProgram clusterProgram() { return {"barnes_hut", &clusterTable, &runCluster}; }

}  // namespace tessera::jobs
