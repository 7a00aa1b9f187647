#include "tools/simulation/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include "tools/simulation/run_folder/run_log.hpp"

namespace tessera {
namespace {

constexpr std::chrono::milliseconds kLineEvery{2000};
constexpr std::chrono::milliseconds kBarEvery{200};
constexpr std::size_t kRecent = 30;
constexpr int kBarWidth = 20;

struct Rates {
  double secondsToGo = -1.0;  ///< negative: not known
  double cellsPerSecond = 0.0;
  double waitPart = 0.0;
};

Rates ratesBetween(const ProgressSample& from, const ProgressSample& to, double seconds) {
  Rates rates;
  if (seconds <= 0.0) return rates;
  rates.cellsPerSecond = (to.cellSteps - from.cellSteps) / seconds;
  rates.waitPart =
      std::clamp((to.waitSeconds - from.waitSeconds) / (seconds * static_cast<double>(to.workers)), 0.0, 1.0);
  if (to.part > from.part) rates.secondsToGo = (1.0 - to.part) * seconds / (to.part - from.part);
  return rates;
}

std::string lineOf(const ProgressSample& sample, const Rates& rates, bool bar) {
  std::ostringstream out;
  if (bar) {
    const int full = static_cast<int>(sample.part * kBarWidth);
    out << '[' << std::string(static_cast<std::size_t>(full), '#')
        << std::string(static_cast<std::size_t>(kBarWidth - full), '.') << "] ";
  }
  out.precision(5);
  out << "step " << sample.step << "  t=" << sample.time << "  dt=" << sample.dt << " | "
      << static_cast<int>(100.0 * sample.part) << " %  ETA "
      << (rates.secondsToGo < 0.0 ? std::string("-") : durationText(rates.secondsToGo));
  out.precision(3);
  out << " | " << rates.cellsPerSecond << " cells/s | wait " << static_cast<int>(100.0 * rates.waitPart)
      << " %";
  out.precision(4);
  for (const WatchedNumber& one : sample.watched) {
    if (one.isKnown)
      out << " | " << one.name << ' ' << one.last << " (" << one.least << " .. " << one.largest << ')';
  }
  return out.str();
}

std::string jsonLineOf(const ProgressSample& sample, const Rates& rates) {
  std::vector<LogField> fields{{"step", sample.step},
                               {"time", sample.time},
                               {"dt", sample.dt},
                               {"part", sample.part},
                               {"eta_seconds", rates.secondsToGo},
                               {"cells_per_second", rates.cellsPerSecond},
                               {"wait_part", rates.waitPart}};
  for (const WatchedNumber& one : sample.watched) {
    if (one.isKnown) fields.push_back({one.name, one.last});
  }
  return jsonLine("progress", fields);
}

}  // namespace

std::string durationText(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e9));
  char text[40];
  std::snprintf(text, sizeof(text), "%02lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                static_cast<long long>(whole / 60 % 60), static_cast<long long>(whole % 60));
  return text;
}

Progress::Progress(ScreenMode mode)
    : mode_(mode), terminal_(mode == ScreenMode::Text && ::isatty(STDOUT_FILENO) == 1) {}

void Progress::note(const std::string& text) {
  if (mode_ == ScreenMode::Quiet) return;
  endBar();
  std::cout << (mode_ == ScreenMode::Json ? jsonLine("note", {{"text", text}}) : text) << std::endl;
}

void Progress::start(const ProgressSample& sample) { recent_.assign(1, {Clock::now(), sample}); }

bool Progress::due() const {
  if (mode_ == ScreenMode::Quiet) return false;
  return !recent_.empty() && Clock::now() - recent_.back().at >= (terminal_ ? kBarEvery : kLineEvery);
}

void Progress::update(const ProgressSample& sample) {
  if (mode_ != ScreenMode::Quiet) show(sample, Clock::now(), false);
}

void Progress::finish(const ProgressSample& sample) {
  const bool shown = shownStep_ == sample.step;
  if (terminal_ || (mode_ == ScreenMode::Json && !shown)) show(sample, Clock::now(), true);
}

void Progress::show(const ProgressSample& sample, Clock::time_point now, bool last) {
  if (recent_.empty()) recent_.push_back({now, sample});
  const double seconds = std::chrono::duration<double>(now - recent_.front().at).count();
  const Rates rates = ratesBetween(recent_.front().sample, sample, seconds);
  if (mode_ == ScreenMode::Json) {
    std::cout << jsonLineOf(sample, rates) << std::endl;
  } else {
    const std::string line = lineOf(sample, rates, terminal_);
    if (terminal_) std::cout << "\r\033[K";
    std::cout << line;
    barOpen_ = terminal_ && !last;
    if (!barOpen_) std::cout << '\n';
    std::cout.flush();
  }
  shownStep_ = sample.step;
  recent_.push_back({now, sample});
  if (recent_.size() > kRecent) recent_.pop_front();
}

void Progress::endBar() {
  if (barOpen_) std::cout << '\n';
  barOpen_ = false;
}

}  // namespace tessera
