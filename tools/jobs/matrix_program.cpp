#include <algorithm>
#include <cmath>

#include "core/philox.hpp"
#include "tools/jobs/job_program.hpp"
#include "tools/jobs/matrix_body.hpp"

namespace tessera::jobs {
namespace {

constexpr double kUnitRoundoff = 0x1p-53;

ParameterTable matrixTable() {
  ParameterTable table("matrix_product", "C = A B of random matrices, checked by Freivalds and by elements");
  table.integer("rows").doc("rows of A and C").range(1, 1 << 16).defaultsTo(512);
  table.integer("inner").doc("columns of A, rows of B").range(1, 1 << 16).defaultsTo(512);
  table.integer("columns").doc("columns of B and C").range(1, 1 << 16).defaultsTo(512);
  table.integer("seed").doc("of the random elements, from -1 to 1").range(0, 1 << 30).defaultsTo(1);
  return table;
}

void fill(Domain<double>& matrix, std::int64_t seed, std::uint32_t which) {
  std::uint32_t n = 0;
  for (double& x : matrix.change()) {
    x = 2.0 * unitReal(philox({n++, which, 0, 0}, {static_cast<std::uint32_t>(seed), 0}).x) - 1.0;
  }
}

/// C with the way in which it lies in its domain.
struct Product {
  const Domain<double>& domain;
  MatrixStrips strips;
  double operator()(std::int64_t column, std::int64_t row) const {
    return domain(strips.placeOf(column, row));
  }
};

/// |C x - A (B x)| by rows, over the bound of its rounding errors, for a random x of 1 and -1.
double freivaldsRatio(const Domain<double>& a, const Domain<double>& b, const Product& c) {
  const std::int64_t rows = a.box().hi.j;
  const std::int64_t inner = a.box().hi.i;
  const std::int64_t columns = b.box().hi.i;
  std::vector<double> x(static_cast<std::size_t>(columns));
  for (std::uint32_t n = 0; n < x.size(); ++n) x[n] = (philox({n, 0, 0, 9}, {1, 0}).x & 1U) != 0 ? 1.0 : -1.0;
  std::vector<double> bx(static_cast<std::size_t>(inner));
  std::vector<double> size(static_cast<std::size_t>(inner));
  for (std::int64_t k = 0; k < inner; ++k) {
    for (std::int64_t j = 0; j < columns; ++j) {
      bx[static_cast<std::size_t>(k)] += b({j, k, 0}) * x[static_cast<std::size_t>(j)];
      size[static_cast<std::size_t>(k)] += std::abs(b({j, k, 0}));
    }
  }
  double worst = 0.0;
  for (std::int64_t i = 0; i < rows; ++i) {
    double left = 0.0;
    double right = 0.0;
    double scale = 0.0;
    for (std::int64_t j = 0; j < columns; ++j) left += c(j, i) * x[static_cast<std::size_t>(j)];
    for (std::int64_t k = 0; k < inner; ++k) {
      right += a({k, i, 0}) * bx[static_cast<std::size_t>(k)];
      scale += std::abs(a({k, i, 0})) * size[static_cast<std::size_t>(k)];
    }
    const double bound = 2.0 * static_cast<double>(inner + columns) * kUnitRoundoff * scale;
    worst = std::max(worst, std::abs(left - right) / bound);
  }
  return worst;
}

/// The error of elements over k u |A| |B|, for up to 256 of them.
double elementRatio(const Domain<double>& a, const Domain<double>& b, const Product& c) {
  double worst = 0.0;
  for (std::uint32_t n = 0; n < 256; ++n) {
    const PhiloxWords words = philox({n, 0, 0, 8}, {1, 0});
    const Index at{words.x % b.box().hi.i, words.y % a.box().hi.j, 0};
    long double sum = 0.0L;
    double scale = 0.0;
    for (std::int64_t k = 0; k < a.box().hi.i; ++k) {
      sum += static_cast<long double>(a({k, at.j, 0})) * b({at.i, k, 0});
      scale += std::abs(a({k, at.j, 0}) * b({at.i, k, 0}));
    }
    const double bound = static_cast<double>(a.box().hi.i) * kUnitRoundoff * scale;
    worst = std::max(worst, static_cast<double>(std::abs(c(at.i, at.j) - sum)) / bound);
  }
  return worst;
}

std::vector<JobNumber> runMatrix(const ParameterValues& deck, DeckRun& run) {
  const std::int64_t rows = deck.integer("rows");
  const std::int64_t inner = deck.integer("inner");
  const std::int64_t columns = deck.integer("columns");
  Domain<double> a("A", {inner, rows, 1});
  Domain<double> b("B", {columns, inner, 1});
  const MatrixStrips strips = MatrixStrips::of(columns);
  const std::int64_t allStrips = (rows + MatrixBody::kRows - 1) / MatrixBody::kRows * strips.strips;
  Domain<double> c("C", {strips.width(), MatrixBody::kRows * allStrips, 1});
  fill(a, deck.integer("seed"), 1);
  fill(b, deck.integer("seed"), 2);
  Job job("matrix_product", {strips.tiles, allStrips, 1});
  job.reads(a).reads(b).writes(c).cutAlong(1, 1).form(JobForm::Regular);
  job.partition([&](const Box& units, PartList& parts) {
    const std::int64_t begin = units.lo.j / strips.strips * MatrixBody::kRows;
    const std::int64_t end = (units.hi.j + strips.strips - 1) / strips.strips * MatrixBody::kRows;
    parts.set(a, {{0, begin, 0}, {inner, std::min(end, rows), 1}});
    parts.set(c,
              {{0, MatrixBody::kRows * units.lo.j, 0}, {strips.width(), MatrixBody::kRows * units.hi.j, 1}});
  });
  job.runs<MatrixBody>(matrixKernels(), [&](const TaskData& task) {
    return MatrixBody{task.read(a), task.read(b), task.write(c), inner, columns, rows, strips};
  });
  const JobReport report = run.runJob(job);
  const double flop =
      2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
  return {{"freivalds_ratio", freivaldsRatio(a, b, {c, strips})},
          {"element_ratio", elementRatio(a, b, {c, strips})},
          {"seconds", report.seconds},
          {"gflops", flop / report.seconds * 1e-9}};
}

}  // namespace

JobProgram matrixProgram() { return {"matrix_product", &matrixTable, &runMatrix}; }

}  // namespace tessera::jobs
