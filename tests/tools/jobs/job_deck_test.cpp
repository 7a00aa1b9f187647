// Every deck of inputs/jobs has its right answers, and the same bits on any set of devices.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "tests/tools/jobs/job_folder.hpp"
#include "tools/jobs/job_result.hpp"
#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera::jobs {
namespace {

using test::contentOf;
using test::deckOf;
using test::devicesOf;
using test::Folder;
using ::testing::HasSubstr;

/// The numbers of result.json without those that depend on the clock.
std::string numbersOf(const std::string& folder) {
  nlohmann::json numbers = nlohmann::json::parse(contentOf(folder + "/result.json"))["numbers"];
  std::vector<std::string> timed;
  for (const auto& [name, number] : numbers.items()) {
    if (name.find("second") != std::string::npos || name.find("gflops") != std::string::npos)
      timed.push_back(name);
  }
  for (const std::string& name : timed) numbers.erase(name);
  return numbers.dump();
}

TEST(JobDecks, EachHasItsRightAnswers) {
  int decks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_SOURCE_DIR "/inputs/jobs")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE("replay: tessera job " + entry.path().string());
    const Folder folder;
    std::ostringstream screen;
    EXPECT_EQ(runJobDeck({.deck = entry.path(), .out = folder.at("out")}, devicesOf(2, 0), screen), 0)
        << screen.str();
    ++decks;
  }
  EXPECT_GE(decks, 15);
}

TEST(JobDecks, PhotonsInFloatHaveTheRightAnswers) {
  for (const char* deck : {"skin", "van_de_hulst", "giovanelli", "fluorescence_clear", "fluorescence_thick",
                           "fluorescence_thin"}) {
    SCOPED_TRACE("replay: tessera job " + deckOf(deck) + " --set photons.precision='float'");
    const Folder folder;
    std::ostringstream screen;
    EXPECT_EQ(
        runJobDeck({deckOf(deck), {"photons.precision='float'"}, folder.at("out")}, devicesOf(2, 0), screen),
        0)
        << screen.str();
  }
}

TEST(JobDecks, EveryFormAndDeviceSetHasTheSameBits) {
  const std::vector<std::pair<std::string, std::string>> decks{
      {"fluorescence_thin", "photons.photons=3000"}, {"fluorescence_float", "photons.photons=3000"},
      {"matrix_product", "matrix_product.rows=60"},  {"path_tracer", "path_tracer.samples=1"},
      {"under_a_lamp", "path_tracer.samples=1"},     {"cluster", "barnes_hut.steps=2"}};
  for (const auto& [deck, smaller] : decks) {
    const Folder folder;
    std::string expected;
    std::string picture;
    for (const char* form : {"regular", "consumer", "consumer-producer", "wavefront"}) {
      for (const auto& [threads, emulated] : {std::pair{1, 0}, {0, 1}, {0, 3}, {2, 2}}) {
        SCOPED_TRACE("replay: tessera job " + deckOf(deck) + " --set " + smaller + " --form " + form);
        std::ostringstream screen;
        runJobDeck({deckOf(deck), {smaller}, folder.at("out"), form, true}, devicesOf(threads, emulated),
                   screen);
        const std::string numbers = numbersOf(folder.at("out"));
        const std::string drawn = contentOf(folder.at("out/image.png")) +
                                  contentOf(folder.at("out/absorption.csv")) +
                                  contentOf(folder.at("out/forces.csv"));
        if (expected.empty()) {
          expected = numbers;
          picture = drawn;
        }
        EXPECT_EQ(numbers, expected);
        EXPECT_TRUE(drawn == picture);
      }
    }
  }
}

TEST(JobDecks, AProductOfSeveralStripsIsRightOnAllDevices) {
  // Three strips of 47 tiles, of which the last has two beyond C and the last tile of C is cut off.
  const std::vector<std::string> size{"matrix_product.rows=21", "matrix_product.inner=40",
                                      "matrix_product.columns=1107"};
  const Folder folder;
  std::string expected;
  for (const auto& [threads, emulated] : {std::pair{1, 0}, {3, 0}, {0, 1}, {2, 2}}) {
    std::ostringstream screen;
    EXPECT_EQ(runJobDeck({deckOf("matrix_product"), size, folder.at("out"), {}, true},
                         devicesOf(threads, emulated), screen),
              0)
        << screen.str();
    const std::string numbers = numbersOf(folder.at("out"));
    if (expected.empty()) expected = numbers;
    EXPECT_EQ(numbers, expected) << threads << " threads, " << emulated << " devices";
  }
}

TEST(JobDecks, TheFormIsMeasuredOnceAndKeptWithTheRates) {
  const Folder folder;
  const std::string paces = "job.paces=\"" + folder.at("paces") + "\"";
  std::string numbers;
  for (const char* by : {"measured", "earlier runs"}) {
    std::ostringstream screen;
    ASSERT_EQ(runJobDeck({.deck = deckOf("matrix_product"), .overrides = {paces}, .out = folder.at("out")},
                         devicesOf(2, 1), screen),
              0);
    const std::string result = contentOf(folder.at("out/result.json"));
    EXPECT_THAT(result, HasSubstr(std::string("\"form_by\": \"") + by + "\""));
    if (numbers.empty()) numbers = numbersOf(folder.at("out"));
    EXPECT_EQ(numbersOf(folder.at("out")), numbers);
  }
  std::ofstream(folder.at("paces"), std::ios::app) << "multiply\t2 threads\tconsummer\t3\t1\n";
  std::ostringstream screen;
  try {
    runJobDeck({.deck = deckOf("matrix_product"), .overrides = {paces}, .out = folder.at("out")},
               devicesOf(2, 0), screen);
    FAIL() << "the damaged file was not reported";
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("paces"), HasSubstr("fix")));
  }
}

TEST(JobDecks, ATraceIsReadAsThatOfARun) {
  const Folder folder;
  std::ostringstream screen;
  ASSERT_EQ(runJobDeck({.deck = deckOf("matrix_product"), .out = folder.at("out"), .trace = "true"},
                       devicesOf(2, 1), screen),
            0);
  const TraceSummary summary = summarise(readTrace(std::filesystem::path(folder.at("out/trace.json.gz"))));
  EXPECT_GE(summary.workers, 2);
  std::int64_t tasks = 0;
  for (const TaskRow& row : summary.tasks) {
    EXPECT_THAT(row.name, HasSubstr("matrix_product "));
    tasks += row.count;
  }
  EXPECT_GE(tasks, 8);
  EXPECT_GT(summary.wall, 0);
}

TEST(JobDecks, ProgressSaysRateAndTimeLeft) {
  EXPECT_EQ(progressLine("photons", 100, 400, 2.0),
            "photons: 100 of 400 units done (25 %), 50 a second, 6 s left");
}

TEST(JobDecks, MistakesAreNamedWithTheirPlace) {
  const Folder folder;
  std::ofstream(folder.at("bad.toml")) << "[job]\nprogram = \"photon\"\n";
  try {
    checkJobDeck({.deck = folder.at("bad.toml")});
    FAIL() << "the misspelt program was not reported";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), HasSubstr("bad.toml:2"));
    EXPECT_THAT(error.message(), HasSubstr("photons"));
  }
  std::ostringstream screen;
  EXPECT_EQ(
      runJobDeck({deckOf("van_de_hulst"),
                  {"photons.photons=2000", "photons.layers=[{thickness=0.04, absorbs=1.0, scatters=9.0}]"},
                  folder.at("out"),
                  "",
                  true},
                 devicesOf(1, 0), screen),
      4);
  EXPECT_THAT(screen.str(), HasSubstr("NOT AS EXPECTED"));
}

TEST(JobDecks, AResultWithNanIsJson) {
  const Folder folder;
  std::ostringstream screen;
  // So soft that there is no force: errors are 0/0.
  JobRequest request;
  request.deck = deckOf("cluster_forces");
  request.overrides = {"barnes_hut.softening=1e200", "barnes_hut.stars=64", "job.title='a \"quoted\" one'"};
  request.out = folder.at("out");
  request.json = true;
  EXPECT_EQ(runJobDeck(request, devicesOf(1, 0), screen), 4);
  const std::string text = contentOf(folder.at("out/result.json"));
  EXPECT_EQ(screen.str(), text);
  const nlohmann::json result = nlohmann::json::parse(text);
  EXPECT_EQ(result["numbers"]["rms_error"]["value"], "nan");
  EXPECT_EQ(result["numbers"]["rms_error"]["expected"][0]["as_expected"], false);
  EXPECT_EQ(result["title"], "a \"quoted\" one");
  EXPECT_EQ(result["overrides"].size(), 3);
  EXPECT_EQ(contentOf(folder.at("out/deck.toml")), contentOf(request.deck));
}

TEST(JobDecks, TheFolderOfARunIsLeftAlone) {
  const Folder folder;
  std::ostringstream screen;
  std::filesystem::create_directory(folder.at("run"));
  std::ofstream(folder.at("run/resolved.toml")) << "\n";
  JobRequest request;
  request.deck = deckOf("matrix_product");
  request.out = folder.at("run");
  EXPECT_THROW(runJobDeck(request, devicesOf(1, 0), screen), OutputError);
  EXPECT_FALSE(std::filesystem::exists(folder.at("run/deck.toml")));
}

}  // namespace
}  // namespace tessera::jobs
