#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/deck/parameters.hpp"
#include "scheduler/jobs/job_runner.hpp"

namespace tessera::jobs {

/// One number of a result, with its standard deviation where it is a random one (0: it is not).
struct JobNumber {
  std::string name;
  double value = 0.0;
  double deviation = 0.0;
};

/// What all runs of one job have done together, and on each device.
struct JobTotals {
  std::string job;
  std::int64_t runs = 0;
  double seconds = 0.0;
  std::vector<JobReport::Share> shares;
};

/// What a program gets: where its jobs run and where its files go.
struct DeckRun {
  JobRunner& runner;
  std::filesystem::path folder;
  std::filesystem::path deckFolder;  ///< where relative paths of the deck begin
  std::vector<JobForm> form;         ///< that the deck or the command line asks for; empty: none
  std::function<void(std::int64_t, std::int64_t)> show;
  std::int64_t expected = 0;  ///< units of all jobs, where the program runs several
  std::int64_t done = 0;
  std::vector<JobTotals> totals{};

  /// Runs the job in the form that was asked for, or else in the fastest one of `among`, and returns what it
  /// has done. Without a list all forms are candidates; where units are pushed, those without stacks.
  JobReport runJob(Job& job, std::vector<JobForm> among = {});
};

/// A program that decks can name: its table of the deck, and what it does.
struct JobProgram {
  std::string name;
  ParameterTable (*table)() = nullptr;
  std::vector<JobNumber> (*run)(const ParameterValues& deck, DeckRun& run) = nullptr;
};

/// All of them.
const std::vector<JobProgram>& jobPrograms();

JobProgram matrixProgram();
JobProgram photonProgram();
JobProgram pathProgram();
JobProgram clusterProgram();

}  // namespace tessera::jobs
