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

/// What a program gets: where its jobs run and where its files go.
struct DeckRun {
  JobRunner& runner;
  std::filesystem::path folder;
  std::filesystem::path deckFolder;  ///< where relative paths of the deck begin
  JobForm form = JobForm::Consumer;
  bool hasForm = false;  ///< the deck or the command line names the form
  std::function<void(std::int64_t, std::int64_t)> show;

  /// Gives the job the form that was asked for, runs it, and returns what it has done.
  const JobReport& runJob(Job& job);
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
