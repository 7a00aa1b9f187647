#include "tools/simulation/run_folder/history.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

class HistoryFile : public testing::Test {
 protected:
  HistoryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-history-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~HistoryFile() override { std::filesystem::remove_all(path_); }

  FolderHandle folder() const { return FolderHandle::open(path_); }
  static void addSteps(History& history, int from, int to) {
    for (int step = from; step <= to; ++step) {
      const double value = 0.1 * step;
      history.add(step, value, 0.1, std::span(&value, 1));
    }
  }

  std::filesystem::path path_;
};

TEST_F(HistoryFile, HasAHeaderAndNumbersThatReadBackToTheSameBits) {
  const FolderHandle files = folder();
  History history(files, "history.csv", {"sum"});
  addSteps(history, 0, 1);
  EXPECT_EQ(files.read("history.csv"), "step,time,dt,sum\n0,0,0.1,0\n1,0.1,0.1,0.1\n");
}

TEST_F(HistoryFile, ContinuedIsTheSameAsUnbroken) {
  const FolderHandle files = folder();
  {
    History whole(files, "history.csv", {"sum"});
    addSteps(whole, 0, 6);
  }
  const std::string expected = files.read("history.csv");
  History again(files, "history.csv", {"sum"}, 3, true);
  addSteps(again, 4, 6);
  EXPECT_EQ(files.read("history.csv"), expected);
}

TEST_F(HistoryFile, ContinuedDropsALineThatWasWrittenBecauseTheRunEnded) {
  const FolderHandle files = folder();
  {
    History first(files, "history.csv", {"sum"});
    for (const int step : {0, 2, 4, 5}) addSteps(first, step, step);
  }
  History again(files, "history.csv", {"sum"}, 5, false);
  EXPECT_EQ(files.read("history.csv"), "step,time,dt,sum\n0,0,0.1,0\n2,0.2,0.1,0.2\n4,0.4,0.1,0.4\n");
}

TEST_F(HistoryFile, IsNeverWrittenThroughALink) {
  const FolderHandle files = folder();
  std::filesystem::create_symlink("elsewhere", path_ / "history.csv");
  EXPECT_NO_THROW(History(files, "history.csv", {"sum"}));  // the link itself is replaced
  EXPECT_FALSE(std::filesystem::exists(path_ / "elsewhere"));
  std::filesystem::create_symlink("elsewhere", path_ / "log.jsonl");
  EXPECT_THROW(files.openToAppend("log.jsonl"), OutputError);
}

}  // namespace
}  // namespace tessera
