#include "datawarehouse/archive/field_writer.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <unistd.h>
#include <utility>

#include "core/text/contracts.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/agreement.hpp"
#include "datawarehouse/archive/detail/field_layout.hpp"
#include "datawarehouse/archive/detail/posix_file.hpp"
#include "datawarehouse/archive/detail/series_file.hpp"

namespace tessera {
namespace {

using namespace detail;

// The mean of the two faces of each cell, per component.
std::vector<double> meanOfFaces(std::span<const double> faces, const Box& cells, Centering centering,
                                std::int64_t components) {
  const int axis = static_cast<int>(centering) - static_cast<int>(Centering::FaceX);
  const Extent n = cells.extent();
  const Extent m = valueBox(cells, centering).extent();
  const std::int64_t stride = components * (axis == 0 ? 1 : (axis == 1 ? m.i : m.i * m.j));
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(cells.volume() * components));
  for (std::int64_t k = 0; k < n.k; ++k) {
    for (std::int64_t j = 0; j < n.j; ++j) {
      const std::int64_t row = (k * m.j + j) * m.i * components;
      for (std::int64_t x = 0; x < n.i * components; ++x) {
        const double low = faces[static_cast<std::size_t>(row + x)];
        const double high = faces[static_cast<std::size_t>(row + x + stride)];
        // NaN: nobody computes the upper faces of a refined region.
        means.push_back(std::isnan(high) ? low : 0.5 * (low + high));
      }
    }
  }
  return means;
}

// One attempt at one file; the steps that touch the file system.
class FieldAttempt {
 public:
  FieldAttempt(const FieldWriter::Options& options, const FieldOutput& output)
      : options_(options), output_(output), ops_("output", options.faults) {
    char number[32];
    std::snprintf(number, sizeof number, "_%06" PRId64 ".hdf", output.step);
    name_ = options.name + number;
  }

  const std::string& name() const { return name_; }
  std::string unfinished() const { return name_ + ".tmp"; }

  // Every rank: what goes where.
  std::string plan() {
    checkOutput(output_);
    datasets_ = planDatasets(output_);
    return {};
  }

  // Rank 0: the file with its place for everything. Gives its size and the offsets of the datasets.
  std::string layOut() {
    if (options_.parent < 0) {
      std::error_code error;
      std::filesystem::create_directories(options_.folder, error);
      if (error)
        throw IoError(error.value(),
                      "cannot make the folder " + options_.folder.string() + ": " + error.message());
    }
    const Folder folder = Folder::openIn(options_.parent, options_.folder, ops_);
    if (folder.has(unfinished())) folder.unlinkFile(unfinished(), ops_);
    const File image = layOutInMemory(folder.pathOf(unfinished()), output_, options_.precision, datasets_);
    File file = folder.createFile(unfinished(), ops_);
    // The places of the values are reserved too, so that a full disk shows here and not in the middle.
    file.allocate(ops_, image.size());
    copyData(image, file, ops_);
    file.close(ops_);
    std::string words = std::to_string(image.size());
    for (const FieldDataset& d : datasets_)
      words += " " + std::to_string(d.offset) + " " + std::to_string(d.sumOffset);
    return words;
  }

  // Every rank: what rank 0 laid out.
  void learnLayout(const std::string& words) {
    std::istringstream in(words);
    in >> size_;
    for (FieldDataset& d : datasets_) in >> d.offset >> d.sumOffset;
  }

  std::int64_t size() const { return size_; }

  // Every rank: the values of its patches, each a single run of bytes in each dataset.
  std::string writeMine(const FillPatch& fill) {
    const Folder folder = Folder::openIn(options_.parent, options_.folder, ops_);
    File file = folder.openForWriting(unfinished(), ops_);
    std::vector<double> values;
    for (std::size_t level = 0; level < output_.levels.size(); ++level) {
      for (const std::int64_t patch : output_.levels[level].mine) {
        for (std::size_t f = 0; f < output_.fields.size(); ++f) {
          const OutputField& field = output_.fields[f];
          const Box box =
              valueBox(output_.levels[level].patches.at(static_cast<std::size_t>(patch)), field.centering);
          values.assign(static_cast<std::size_t>(box.volume() * field.components), 0.0);
          fill(level, patch, f, values);
          writePatch(file, level, patch, f, values);
        }
      }
    }
    file.sync(ops_);
    file.close(ops_);
    return std::to_string(tooLarge_);
  }

  // Rank 0: the final name, then the series. `tooLarge`: of each rank. Gives a warning a line.
  std::string publish(const std::vector<std::string>& tooLarge) {
    std::int64_t infinite = 0;
    for (const std::string& count : tooLarge) infinite += std::stoll(count);
    std::string warnings;
    if (infinite > 0) {
      warnings = std::to_string(infinite) + " finite value(s) of " + name_ +
                 " are too large for output.precision = \"float32\" and are infinite in the file; use "
                 "\"float64\"\n";
    }
    const Folder folder = Folder::openIn(options_.parent, options_.folder, ops_);
    folder.rename(unfinished(), name_, ops_);
    folder.sync(ops_);
    try {
      return warnings + extendSeries(folder, options_.name + ".hdf.series", {name_, output_.time}, ops_);
    } catch (const Error& problem) {
      return warnings + "the file is complete, but its entry in the series is missing: " + problem.message();
    }
  }

  // Rank 0: nothing of a failed attempt stays.
  void undo() {
    if (options_.parent < 0 && !std::filesystem::exists(options_.folder)) return;
    const Folder folder = Folder::openIn(options_.parent, options_.folder, ops_);
    if (folder.has(unfinished())) folder.unlinkFile(unfinished(), ops_);
  }

 private:
  void writePatch(const File& file, std::size_t level, std::int64_t patch, std::size_t field,
                  std::span<const double> values) {
    const Box& cells = output_.levels[level].patches[static_cast<std::size_t>(patch)];
    const OutputField& what = output_.fields[field];
    for (const FieldDataset& d : datasets_) {
      if (d.level != level || d.field != field) continue;
      if (d.centering == what.centering) {
        writeRun(file, d, patch, values);
      } else {
        writeRun(file, d, patch, meanOfFaces(values, cells, what.centering, what.components));
      }
    }
  }

  void writeRun(const File& file, const FieldDataset& dataset, std::int64_t patch,
                std::span<const double> values) {
    const std::int64_t components = output_.fields[dataset.field].components;
    const std::int64_t first = dataset.start[static_cast<std::size_t>(patch)] * components;
    if (options_.precision == FieldPrecision::Float64) {
      writeSummed(file, dataset, patch, std::as_bytes(values), first * 8);
      return;
    }
    narrow_.resize(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
      narrow_[n] = static_cast<float>(values[n]);
      if (std::isinf(narrow_[n]) && std::isfinite(values[n])) ++tooLarge_;
    }
    writeSummed(file, dataset, patch, std::as_bytes(std::span(narrow_)), first * 4);
  }

  void writeSummed(const File& file, const FieldDataset& dataset, std::int64_t patch,
                   std::span<const std::byte> bytes, std::int64_t at) {
    const std::int64_t sum = crc32c(bytes);
    file.writeAt(ops_, bytes, dataset.offset + at);
    file.writeAt(ops_, std::as_bytes(std::span(&sum, 1)),
                 dataset.sumOffset + patch * static_cast<std::int64_t>(sizeof(sum)));
  }

  const FieldWriter::Options& options_;
  const FieldOutput& output_;
  FileOps ops_;
  std::vector<FieldDataset> datasets_;
  std::vector<float> narrow_;
  std::int64_t tooLarge_ = 0;  ///< values of this rank that single precision makes infinite
  std::string name_;
  std::int64_t size_ = 0;
};

}  // namespace

FieldWriter::FieldWriter(Transport& transport, Options options)
    : transport_(transport), options_(std::move(options)) {
  TESSERA_EXPECT(detail::isSafeName(options_.name),
                 "the name of an output is made of [A-Za-z0-9._-], no leading dot");
  TESSERA_EXPECT(!options_.folder.empty(), "name the folder that the output goes into");
}

FieldWriteResult FieldWriter::write(const FieldOutput& output, const FillPatch& fill) {
  FieldAttempt now(options_, output);
  FieldWriteResult result;
  result.path = options_.folder / now.name();
  const auto failed = [&](const std::string& why) {
    result.failure = "field output " + now.name() + " was not written: " + why;
    return result;
  };
  const Outcome planned = attempt([&] { return now.plan(); });
  const auto layOut = [&](const std::vector<std::string>&) { return now.layOut(); };
  const Outcome laidOut = agree(transport_, planned, layOut, [&] { now.undo(); });
  if (!laidOut.ok) return failed(laidOut.text);
  now.learnLayout(laidOut.text);

  const Outcome wrote = attempt([&] { return now.writeMine(fill); });
  const auto publish = [&](const std::vector<std::string>& tooLarge) { return now.publish(tooLarge); };
  const Outcome done = agree(transport_, wrote, publish, [&] { now.undo(); });
  if (!done.ok) return failed(done.text);
  result.written = true;
  result.bytes = now.size();
  std::istringstream lines(done.text);
  for (std::string line; std::getline(lines, line);) result.warnings.push_back(line);
  return result;
}

}  // namespace tessera
