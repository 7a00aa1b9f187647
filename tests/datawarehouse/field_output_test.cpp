#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"
#include "tests/datawarehouse/field_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What a shell command prints; its exit code as the last line.
std::string outputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen((command + " 2>&1; echo \"exit $?\"").c_str(), "r"), &::pclose);
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
  return text;
}

std::string audit(const std::filesystem::path& file) {
  return outputOf("/usr/bin/python3 " TESSERA_SOURCE_DIR "/tools/checks/vtkhdf_audit.py " + file.string());
}

std::string python(const std::string& code) { return outputOf("/usr/bin/python3 -c '" + code + "'"); }

TEST(FieldOutput, TheAuditFindsNothing) {
  TemporaryFolder folder;
  const FieldWriteResult result = FieldSample{}.write(folder.path(), 120, 3);
  ASSERT_TRUE(result.written) << result.failure;
  EXPECT_EQ(result.path, folder / "fields_000120.hdf");
  EXPECT_EQ(audit(result.path), result.path.string() + ": ok, 2 levels, 6 patches\nexit 0\n");
}

TEST(FieldOutput, TheAuditFindsEachBrokenRule) {
  TemporaryFolder folder;
  const auto path = FieldSample{}.write(folder.path(), 1).path.string();
  const std::string open = "import h5py; f = h5py.File(\"" + path + "\", \"a\"); ";
  const std::vector<std::pair<std::string, std::string>> breaks{
      {"f[\"VTKHDF/Level0/CellData/density\"][3] = float(\"nan\")", "a value is not finite"},
      {"f[\"VTKHDF/Level0/AMRBox\"][1, 0] = 1", "boxes 0 and 1 overlap"},
      {"f[\"VTKHDF/Level1/AMRBox\"][1] = [40, 42, 2, 5, 0, 0]", "leaves the domain"},
      {"f[\"VTKHDF/Level1\"].attrs[\"Spacing\"] = [0.3, 0.125, 1.0]", "the ratio of spacings is not whole"},
      {"f[\"VTKHDF\"].attrs[\"Type\"] = \"OverlappingAMR\"", "Type is not a text of fixed length"},
      {"del f[\"VTKHDF/Level1/PointData/potential\"]", "level 0 has [\\'potential\\']"}};
  const std::string whole = readText(path);
  for (const auto& [code, finding] : breaks) {
    writeText(path, whole);
    ASSERT_EQ(python(open + code), "exit 0\n");
    std::string expected = finding;
    std::erase(expected, '\\');
    EXPECT_THAT(audit(path), AllOf(HasSubstr(expected), HasSubstr("exit 1"))) << code;
  }
}

TEST(FieldOutput, TheBytesDoNotDependOnTheNumberOfRanksOrTheTime) {
  TemporaryFolder one;
  const std::string expected = readText(FieldSample{}.write(one.path(), 7).path);
  for (const int ranks : {1, 2, 3, 8}) {
    TemporaryFolder folder;
    const FieldWriteResult result = FieldSample{}.write(folder.path(), 7, ranks);
    ASSERT_TRUE(result.written) << result.failure;
    EXPECT_TRUE(readText(result.path) == expected) << ranks << " ranks";
    EXPECT_EQ(result.bytes, static_cast<std::int64_t>(expected.size()));
  }
}

TEST(FieldOutput, EveryValueComesBack) {
  const FieldSample sample;
  for (const FieldPrecision precision : {FieldPrecision::Float32, FieldPrecision::Float64}) {
    TemporaryFolder folder;
    const FieldReader reader = FieldReader::open(sample.write(folder.path(), 7, 2, precision).path);
    EXPECT_EQ(reader.precision(), precision);
    FieldOutput expected = sample.output(7);
    const FieldOutput& found = reader.header();
    EXPECT_EQ(found.step, 7);
    EXPECT_EQ(found.time, 1.75);
    EXPECT_EQ(found.dt, 0.125);
    EXPECT_EQ(found.origin, expected.origin);
    EXPECT_EQ(found.refinementRatio, expected.refinementRatio);
    EXPECT_EQ(found.fields, expected.fields);
    EXPECT_EQ(found.periodic, expected.periodic);
    EXPECT_EQ(found.codeVersion, "0.1.0");
    EXPECT_EQ(found.revision, "1a2b3c4");
    EXPECT_EQ(found.deckSha256, "0123abcd");
    EXPECT_EQ(found.runId, "run");
    ASSERT_EQ(found.levels.size(), 2u);
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(found.levels[l].domain, expected.levels[l].domain);
      EXPECT_EQ(found.levels[l].spacing, expected.levels[l].spacing);
      ASSERT_EQ(found.levels[l].patches, expected.levels[l].patches);
      for (std::size_t p = 0; p < found.levels[l].patches.size(); ++p) {
        for (std::size_t f = 0; f < found.fields.size(); ++f) {
          const auto patch = static_cast<std::int64_t>(p);
          const std::vector<double> values = reader.values(f, l, patch);
          std::vector<double> wanted(values.size());
          sample.fill(expected)(l, patch, f, wanted);
          EXPECT_EQ(values, wanted) << found.fields[f].name << " level " << l << " patch " << p;
        }
      }
    }
  }
}

TEST(FieldOutput, AFaceFieldIsShownAsTheMeanOfACellsFaces) {
  TemporaryFolder folder;
  const auto path = FieldSample{}.write(folder.path(), 7, 2).path.string();
  // Patch 1 of level 0 begins at cell (2, 0, 0), 8 cells in; its faces are 2 and 3, values 16384 + i.
  const std::string code = "import h5py; f = h5py.File(\"" + path +
                           "\"); d = f[\"VTKHDF/Level0/CellData/flux\"]; " +
                           "print(d.shape, d[0], d[8], d[10], d[31])";
  EXPECT_EQ(python(code), "(32,) 16384.5 16386.5 16450.5 16583.5\nexit 0\n");
}

TEST(FieldOutput, AnIndependentReaderSeesVectorsTimeAndUnits) {
  TemporaryFolder folder;
  const auto path = FieldSample{}.write(folder.path(), 7).path.string();
  const std::string code = "import h5py; f = h5py.File(\"" + path +
                           "\"); v = f[\"VTKHDF/Level1/CellData/velocity\"]; " +
                           "t = f[\"tessera\"]; print(v.shape, v[0], t.attrs[\"time\"], t.attrs[\"step\"], " +
                           "t[\"fields/density\"].attrs[\"unit\"])";
  EXPECT_EQ(python(code), "(32, 2) [10372.   10372.25] 1.75 7 b'kg/m^3'\nexit 0\n");
}

TEST(FieldOutput, TheSeriesListsEachOutputOnceAndForgetsAnAbandonedFuture) {
  TemporaryFolder folder;
  const FieldSample sample;
  for (const std::int64_t step : {0, 10, 20, 10, 15}) ASSERT_TRUE(sample.write(folder.path(), step).written);
  const std::string code =
      "import json; s = json.load(open(\"" + (folder / "fields.hdf.series").string() + "\")); " +
      "print(s[\"file-series-version\"], [(f[\"name\"], f[\"time\"]) for f in s[\"files\"]])";
  EXPECT_EQ(
      python(code),
      "1.0 [('fields_000000.hdf', 0.0), ('fields_000010.hdf', 2.5), ('fields_000015.hdf', 3.75)]\nexit 0\n");
}

TEST(FieldOutput, ABrokenSeriesIsBegunAnewWithAWarning) {
  TemporaryFolder folder;
  writeText(folder / "fields.hdf.series", "{\"files\": [");
  const FieldWriteResult result = FieldSample{}.write(folder.path(), 3, 2);
  ASSERT_TRUE(result.written);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("begun anew")));
  EXPECT_THAT(readText(folder / "fields.hdf.series"), HasSubstr("fields_000003.hdf"));
}

TEST(FieldOutput, AFailureOfAnyOperationLeavesNothingHalf) {
  const FieldSample sample;
  int n = 1;
  for (bool met = true; met; ++n) {
    ASSERT_LT(n, 500);
    SCOPED_TRACE("fault at operation " + std::to_string(n));
    TemporaryFolder folder;
    ASSERT_TRUE(sample.write(folder.path(), 10).written);
    const std::string before = readText(folder / "fields_000010.hdf");
    FaultPlan plan;
    plan.add({.point = "", .occurrence = n, .effect = FaultEffect::Fail, .error = EIO});
    const FieldWriteResult result = sample.write(folder.path(), 20, 2, FieldPrecision::Float64, &plan);
    met = plan.hits() >= n;
    EXPECT_EQ(readText(folder / "fields_000010.hdf"), before);
    EXPECT_FALSE(std::filesystem::exists(folder / "fields_000020.hdf.tmp"));
    if (std::filesystem::exists(folder / "fields_000020.hdf")) {
      EXPECT_NO_THROW(FieldReader::open(folder / "fields_000020.hdf"));
    }
    EXPECT_TRUE(result.written || result.failure.find("Input/output error") != std::string::npos)
        << result.failure;
    EXPECT_TRUE(sample.write(folder.path(), 20, 2).written) << "the next output is not hindered";
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 20);
}

TEST(FieldOutput, AFullDiskIsAFailureOnAllRanksAndTheRunGoesOn) {
  SmallDisk disk;
  FieldSample sample;
  ASSERT_TRUE(sample.write(disk.path() / "out", 1, 3).written);
  LoopbackWorld world(3);
  runRanks(world, [&](Transport& transport) {
    FieldWriter writer(transport, {.folder = disk.path() / "out", .precision = FieldPrecision::Float64});
    FieldOutput large = sample.output(2, transport.rank(), 3);
    large.levels.resize(1);
    large.refinementRatio.clear();
    large.levels[0].domain = {{0, 0, 0}, {8, 4, 50000}};
    for (Box& patch : large.levels[0].patches) patch.hi.k = 50000;
    const FieldWriteResult result = writer.write(large, sample.fill(large));
    EXPECT_FALSE(result.written);
    EXPECT_THAT(result.failure, AnyOf(HasSubstr("No space left on device"), HasSubstr("File too large")));
  });
  EXPECT_THAT(namesIn(disk.path() / "out"), ElementsAre("fields.hdf.series", "fields_000001.hdf"));
  EXPECT_TRUE(sample.write(disk.path() / "out", 3, 3).written);
}

TEST(FieldOutput, AnExceptionOfTheFillOnOneRankReachesAll) {
  TemporaryFolder folder;
  const FieldSample sample;
  LoopbackWorld world(3);
  runRanks(world, [&](Transport& transport) {
    FieldWriter writer(transport, {.folder = folder.path()});
    const FieldOutput mine = sample.output(2, transport.rank(), 3);
    const FillPatch good = sample.fill(mine);
    const FieldWriteResult result =
        writer.write(mine, [&](std::size_t l, std::int64_t p, std::size_t f, auto values) {
          if (l == 0 && p == 1) throw NumericalError("density is NaN at cell (3, 1, 0)");
          good(l, p, f, values);
        });
    EXPECT_FALSE(result.written);
    EXPECT_THAT(result.failure, HasSubstr("rank 1: density is NaN"));
  });
  EXPECT_THAT(namesIn(folder.path()), IsEmpty());
}

TEST(FieldOutput, CellsBeyond32BitsAreRefusedWithAReason) {
  TemporaryFolder folder;
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    FieldOutput output = FieldSample{}.output(1);
    output.levels[0].domain.hi.i = std::int64_t{1} << 33;
    const FieldWriteResult result =
        FieldWriter(transport, {.folder = folder.path()}).write(output, FieldSample{}.fill(output));
    EXPECT_FALSE(result.written);
    EXPECT_THAT(result.failure, HasSubstr("32-bit cell indices"));
  });
}

TEST(FieldReader, RefusesWhatIsNoFieldFileByName) {
  TemporaryFolder folder;
  EXPECT_THAT(inputErrorOf([&] { FieldReader::open(folder / "none.hdf"); }),
              HasSubstr("none.hdf: No such file"));
  writeText(folder / "text.hdf", "this is not HDF5");
  EXPECT_THAT(inputErrorOf([&] { FieldReader::open(folder / "text.hdf"); }),
              AllOf(HasSubstr("text.hdf"), HasSubstr("HDF5")));
}

TEST(FieldReader, RefusesAFileCutAtManyLengths) {
  TemporaryFolder folder;
  const auto path = FieldSample{}.write(folder.path(), 1).path;
  const std::string whole = readText(path);
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    writeText(path, whole.substr(0, length));
    EXPECT_NE(inputErrorOf([&] { FieldReader::open(path); }), "") << length;
  }
}

TEST(FieldReader, RefusesLinksAndStorageElsewhere) {
  TemporaryFolder folder;
  const auto path = FieldSample{}.write(folder.path(), 1).path.string();
  const std::string open = "import h5py; f = h5py.File(\"" + path +
                           "\", \"a\"); g = f[\"VTKHDF/Level0/CellData\"]; del g[\"density\"]; ";
  const std::vector<std::pair<std::string, std::string>> attacks{
      {"g[\"density\"] = h5py.ExternalLink(\"/etc/passwd\", \"/x\")", "a link that may lead elsewhere"},
      {"g[\"density\"] = h5py.SoftLink(\"/VTKHDF/Level0/CellData/flux\")", "a link that may lead elsewhere"},
      {"g.create_dataset(\"density\", (32,), \"f8\", external=[(\"/etc/passwd\", 0, 256)])",
       "not stored plainly"},
      {"g.create_dataset(\"density\", (32,), \"f8\", chunks=(8,), compression=\"gzip\")",
       "not stored plainly"},
      {"g.create_dataset(\"density\", data=[0.0] * 31)", "one entry for each value"}};
  const std::string whole = readText(path);
  for (const auto& [code, why] : attacks) {
    writeText(path, whole);
    ASSERT_EQ(python(open + code), "exit 0\n");
    EXPECT_THAT(inputErrorOf([&] { FieldReader::open(path); }), HasSubstr(why)) << code;
  }
}

}  // namespace
}  // namespace tessera::test
