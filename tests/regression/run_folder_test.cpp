#include <filesystem>
#include <signal.h>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(RunFolder, HasEverythingThatARunLeaves) {
  const Workplace place;
  const std::string deck = smallHeat("max_steps = 4", "[output]\nevery_steps = 2");
  place.file("small.toml", deck);

  const ProgramResult run = place.tessera({"run", "small.toml", "--set", "time.cfl=0.5"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(place.read("small/deck.toml"), deck);
  EXPECT_THAT(place.read("small/resolved.toml"), HasSubstr("cfl = 0.5"));
  EXPECT_THAT(place.read("small/provenance.json"), HasSubstr("\"hdf5\""));
  EXPECT_THAT(place.read("small/provenance.json"), HasSubstr("time.cfl=0.5"));
  EXPECT_THAT(place.read("small/log.jsonl"), HasSubstr("\"event\":\"end\""));
  EXPECT_THAT(place.read("small/history.csv"), HasSubstr("step,time,dt,heat.total"));
  for (const std::string step : {"000000", "000002", "000004"}) {
    EXPECT_TRUE(place.has("small/out/fields_" + step + ".hdf"));
  }
  EXPECT_TRUE(place.has("small/out/fields.hdf.series"));
  EXPECT_TRUE(place.has("small/checkpoints/ckpt-000004/manifest.json"));
  EXPECT_EQ(resultOf(place, "small", "step"), "4");
}

TEST(RunFolder, TheHistoryIsAPlainTableAndItsUnitsAreBesideIt) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4", "[units]\ntemperature = \"K\"\ntime = \"s\""));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  EXPECT_THAT(place.read("small/history.csv"), StartsWith("step,time,dt,heat.total,heat.min,heat.max\n0,"));
  EXPECT_EQ(place.read("small/history.json"),
            "{\n \"units\": {\n  \"step\": \"1\",\n  \"time\": \"s\",\n  \"dt\": \"s\",\n"
            "  \"heat.total\": \"K length^3\",\n  \"heat.min\": \"K\",\n  \"heat.max\": \"K\"\n }\n}\n");

  const std::vector<std::string> further{"--set", "time.max_steps=6", "--set", "units.time=\"min\""};
  std::vector<std::string> restart{"restart", "small", "-q"};
  restart.insert(restart.end(), further.begin(), further.end());
  ASSERT_EQ(place.tessera(restart).exitCode, 0);
  EXPECT_THAT(place.read("small/history.json"), HasSubstr("\"time\": \"min\""));
  EXPECT_EQ(place.tessera({"info", "--verify", "small"}).exitCode, 0);
}

/// What the program itself writes, not the writer of the unit tests: nothing is left empty.
TEST(RunFolder, FieldFilesSayWhatTheyAreAndTheAuditFindsNothing) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(
      place.tessera({"run", "small.toml", "-q", "-n", "2", "--set", "output.precision=\"float32\""}).exitCode,
      0);
  const std::string file = "small/out/fields_000002.hdf";

  const ProgramResult audit =
      RunningProgram({"/usr/bin/python3", TESSERA_SOURCE_DIR "/tools/checks/vtkhdf_audit.py", file},
                     place.path())
          .wait();
  EXPECT_EQ(audit.exitCode, 0) << audit.out << audit.err;

  const std::string code =
      "import h5py, hashlib, json; t = h5py.File('" + file +
      "')['tessera']; a = t.attrs\n"
      "print(list(a['periodic']), a['deck_sha256'].decode() == hashlib.sha256(open('small.toml', "
      "'rb').read()).hexdigest(),"
      " a['run_id'].decode() == json.load(open('small/provenance.json'))['run_id'], len(a['run_id']), "
      "len(a['git']) > 6,"
      " t['fields/temperature'].attrs['unit'].decode(), t.file['VTKHDF/Level0/CellData/temperature'].dtype)";
  const ProgramResult read = RunningProgram({"/usr/bin/python3", "-c", code}, place.path()).wait();
  EXPECT_EQ(read.out, "[1, 0, 0] True True 32 True temperature float32\n") << read.err;
}

TEST(RunFolder, TheRunIdIsTheSameForEveryWayToTheSameBitsAndOnlyForThose) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  const auto idWith = [&](const std::string& run, std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "small.toml", "-q", "--out", run};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(place.tessera(arguments).exitCode, 0);
    const std::string text = place.read(run + "/provenance.json");
    return text.substr(text.find("\"run_id\""), 50);
  };
  const std::string id = idWith("a", {});
  EXPECT_EQ(idWith("b", {"-n", "2", "--set", "grid.patches=[1, 1, 1]", "--set", "time.max_steps=3"}), id);
  EXPECT_NE(idWith("c", {"--set", "time.cfl=0.5"}), id);
  EXPECT_NE(idWith("d", {"--set", "heat.conductivity=2"}), id);
}

TEST(RunFolder, ResolvedDeckGivesTheSameRun) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "--set", "time.cfl=0.3"}).exitCode, 0);

  const ProgramResult again = place.tessera({"run", "small/resolved.toml", "--out", "again"});

  ASSERT_EQ(again.exitCode, 0) << again.err;
  EXPECT_EQ(place.read("again/history.csv"), place.read("small/history.csv"));
}

TEST(RunFolder, IsNeverOverwritten) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 1"));
  for (int n = 0; n < 3; ++n) ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  EXPECT_TRUE(place.has("small/result.json"));
  EXPECT_TRUE(place.has("small.001/result.json"));
  EXPECT_TRUE(place.has("small.002/result.json"));

  const std::string before = place.read("small/log.jsonl");
  const ProgramResult named = place.tessera({"run", "small.toml", "--out", "small"});
  EXPECT_EQ(named.exitCode, 5);
  EXPECT_THAT(named.err, HasSubstr("there already"));
  EXPECT_EQ(place.read("small/log.jsonl"), before);
}

TEST(RunFolder, IsRefusedToASecondRunWhileInUse) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  RunningProgram first(Workplace::command({"run", "endless.toml", "-q"}), place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/resolved.toml"); }));

  const ProgramResult second = place.tessera({"restart", "endless"});

  EXPECT_EQ(second.exitCode, 5);
  EXPECT_THAT(second.err, HasSubstr("in use"));
  EXPECT_THAT(second.err, HasSubstr(std::to_string(first.pid())));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().exitCode, 75);
}

TEST(RunFolder, ALockOfADeadProcessOfThisMachineIsNoObstacle) {
  const Workplace place;
  place.file("endless.toml", endlessHeat("[checkpoint]\nevery_steps = 100\n"));
  {
    RunningProgram first(Workplace::command({"run", "endless.toml", "-q"}), place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/checkpoints/ckpt-000100"); }));
    first.signal(SIGKILL);
    EXPECT_EQ(first.wait().exitCode, 128 + SIGKILL);
  }
  const ProgramResult again = place.tessera({"restart", "endless", "--set", "time.max_steps=20000"});
  EXPECT_EQ(again.exitCode, 0) << again.err;
}

TEST(RunFolder, AReadOnlyPlaceIsRefusedBeforeTheFirstStep) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 1"));

  const ProgramResult run = place.onSmallDisk("ro,size=1m", {"run", "small.toml", "--out", "disk/run"});

  EXPECT_EQ(run.exitCode, 5);
  EXPECT_THAT(run.err, HasSubstr("Read-only file system"));
}

TEST(RunFolder, JsonLinesOnTheScreenAreJson) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  const ProgramResult run = place.tessera({"run", "small.toml", "--log", "json"});
  ASSERT_EQ(run.exitCode, 0);
  EXPECT_EQ(run.out.front(), '{');
  EXPECT_THAT(run.out, HasSubstr("{\"event\":\"progress\",\"step\":2,"));
}

TEST(RunFolder, TheLastStateIsOnTheScreenOnce) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  const ProgramResult lines = place.tessera({"run", "small.toml"});
  EXPECT_EQ(countOf(lines.out, "step 2"), 1) << lines.out;
  const ProgramResult json = place.tessera({"run", "small.toml", "--log", "json"});
  EXPECT_EQ(countOf(json.out, "\"step\":2,"), 1) << json.out;
}

TEST(RunFolder, AStoppedRunSaysSoOnce) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  const ProgramResult run = place.tessera({"run", "endless.toml", "--wall", "0"});
  EXPECT_THAT(run.out, HasSubstr("stopped by the limit of wall time (--wall); step 0"));
  EXPECT_EQ(countOf(run.out, "stopped"), 1) << run.out;
}

TEST(RunFolder, CostsOfStepsAddUpToThoseOfTheRun) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "-n", "3", "--threads", "1"}).exitCode, 0);

  std::istringstream lines(place.read("small/statistics.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "step,time,dt,wall_seconds,task_seconds,wait_seconds,message_seconds,output_seconds,messages,"
            "message_bytes,memory_bytes");
  std::vector<std::vector<double>> rows;
  while (std::getline(lines, line)) {
    std::istringstream numbers(line);
    std::vector<double>& row = rows.emplace_back();
    for (std::string number; std::getline(numbers, number, ',');) row.push_back(std::stod(number));
    ASSERT_EQ(row.size(), 11U);
    EXPECT_GT(row[3], 0.0);
    EXPECT_GT(row[4], 0.0);
    EXPECT_GT(row[10], 3e6);
  }
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0][8], 0.0) << "the initial state needs no message";
  EXPECT_EQ(rows[2][8], rows[1][8]) << "each step exchanges the same";
  EXPECT_GT(rows[1][9], 0.0);
  EXPECT_GT(rows[1][7], 0.0) << "the fields of step 0 are written after its line";
  double bytes = 0.0;
  for (const auto& row : rows) bytes += row[9];
  EXPECT_EQ(nlohmann::json::parse(resultOf(place, "small", "statistics")).at("message_bytes"), bytes);
}

TEST(RunFolder, StatisticsAreThoseOfAllRanks) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3"));
  const auto statisticsOf = [&](const std::string& ranks) {
    const std::string run = "on" + ranks;
    EXPECT_EQ(
        place.tessera({"run", "small.toml", "-q", "-n", ranks, "--threads", "1", "--out", run}).exitCode, 0);
    return nlohmann::json::parse(resultOf(place, run, "statistics"));
  };
  const auto one = statisticsOf("1");
  const auto three = statisticsOf("3");
  EXPECT_GT(one["tasks"], 0);
  EXPECT_EQ(three["tasks"], one["tasks"]);  // the same patches, so the same instances
  EXPECT_EQ(three["threads"], 3);
  EXPECT_EQ(one["messages"], 0);
  EXPECT_GT(three["messages"], 0);
  EXPECT_GE(three["field_bytes_in_memory"], one["field_bytes_in_memory"]);
  EXPECT_LT(three["field_bytes_on_largest_rank"], one["field_bytes_in_memory"]);
  EXPECT_LE(three["wait_part"], 1.0);
}

TEST(RunFolder, AKokkosToolSeesEveryTaskByItsName) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  std::vector<std::string> profiled{
      "env", "KOKKOS_TOOLS_LIBS=" TESSERA_BINARY_DIR "/tests/libtessera_recording_tool.so",
      "TESSERA_RECORD=record"};
  for (const std::string& argument : Workplace::command({"run", "small.toml", "-q", "--threads", "2"}))
    profiled.push_back(argument);

  const ProgramResult run = RunningProgram(profiled, place.path()).wait();

  ASSERT_EQ(run.exitCode, 0) << run.err;
  if (place.read("small/provenance.json").find("\"kokkos\": \"not in this build\"") != std::string::npos) {
    EXPECT_THAT(run.err, HasSubstr("this build has no Kokkos"));
    return;
  }
  EXPECT_EQ(run.err, "");
  const std::string record = place.read("record");
  EXPECT_EQ(countOf(record, " Heat::advance on "), 12) << "six patches, two steps:\n" << record;
  EXPECT_EQ(countOf(record, "begin "), countOf(record, "end "));
}

#if defined(TESSERA_NVTX_TOOL)
TEST(RunFolder, AnNvtxToolSeesStepsTasksAndMessagesOfEveryRank) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  std::vector<std::string> profiled{"env", "NVTX_INJECTION64_PATH=" TESSERA_NVTX_TOOL,
                                    "TESSERA_RECORD=" + (place.path() / "record").string()};
  for (const std::string& argument :
       Workplace::command({"run", "-n", "2", "small.toml", "-q", "--threads", "2"}))
    profiled.push_back(argument);

  const ProgramResult run = RunningProgram(profiled, place.path()).wait();

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(run.err, "");
  std::string all;
  int ranks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(place.path())) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("record.", 0) != 0) continue;
    const std::string record = place.read(name);
    if (countOf(record, " Heat::advance (") == 0) continue;  // the launcher
    ++ranks;
    EXPECT_EQ(countOf(record, " step (1)"), 1) << record;
    EXPECT_GT(countOf(record, " to rank "), 0) << record;
    EXPECT_EQ(countOf(record, " to rank "), countOf(record, " from rank ")) << record;
    EXPECT_GT(countOf(record, " halo of Old temperature ("), 0) << record;
    EXPECT_EQ(countOf(record, "push "), countOf(record, "pop "));
    EXPECT_EQ(countOf(record, "start "), countOf(record, "end "));
    all += record;
  }
  EXPECT_EQ(ranks, 2);
  EXPECT_EQ(countOf(all, " Heat::advance ("), 12) << "six patches, two steps:\n" << all;
}
#else
TEST(RunFolder, ABuildWithoutNvtxSaysSoToWhoAsksForATool) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  std::vector<std::string> profiled{"env", "NVTX_INJECTION64_PATH=libtool.so"};
  for (const std::string& argument : Workplace::command({"run", "small.toml", "-q"}))
    profiled.push_back(argument);

  const ProgramResult run = RunningProgram(profiled, place.path()).wait();

  EXPECT_EQ(run.exitCode, 0);
  EXPECT_EQ(countOf(run.err, "this build found no headers of NVTX"), 1) << run.err;
}
#endif

TEST(RunFolder, AReaderOfTheScreenThatGoesAwayDoesNotEndTheRun) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 200"));
  std::vector<std::string> pipe{"sh", "-c", "\"$@\" | true", "sh"};
  for (const std::string& argument : Workplace::command({"run", "small.toml", "--log", "json"}))
    pipe.push_back(argument);
  RunningProgram(pipe, place.path()).wait();
  EXPECT_EQ(resultOf(place, "small", "status"), "done");
}

TEST(RunFolder, QuietPrintsNothing) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  const ProgramResult run = place.tessera({"run", "small.toml", "-q"});
  EXPECT_EQ(run.out + run.err, "");
}

}  // namespace
}  // namespace tessera::test
