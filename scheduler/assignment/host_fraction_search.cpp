#include "scheduler/assignment/host_fraction_search.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

constexpr double kProbe = 1.0 / 16.0;

}  // namespace

HostFractionSearch::HostFractionSearch(int threads, double smallestPart)
    : threads_(std::max(threads, 1)), smallestPart_(std::clamp(smallestPart, 0.0, 1.0)) {}

void HostFractionSearch::take(const ShareTrial& trial) {
  trials_.push_back(trial);
  asked_.push_back(part_);
  switch (stage_) {
    case Stage::Devices:
      devices_ = trial.stepSeconds;
      stage_ = Stage::Probe;
      part_ = std::max(kProbe, smallestPart_);
      return;
    case Stage::Probe:
      if (trial.part <= 0.0) return settle();  // nothing that the host could take
      hostAlone_ = trial.hostSeconds / trial.part / threads_;
      return trySplit(trial);
    case Stage::Split:
      return tryHost();
    case Stage::Host:
      return settle();
    case Stage::Settled:
      return;
  }
}

void HostFractionSearch::trySplit(const ShareTrial& probe) {
  const double work = std::max(devices_ * (1.0 - probe.part), hostAlone_ * probe.part);
  const double beside = std::max(0.0, probe.stepSeconds - work);
  const double part = devices_ / (devices_ + hostAlone_);
  const double promised = devices_ * (1.0 - part) + beside;
  const bool isNew = part > probe.part + smallestPart_ / 2.0 || part < probe.part - smallestPart_ / 2.0;
  if (part < smallestPart_ || part >= 1.0 || !isNew || promised >= (1.0 - kGain) * best()) return tryHost();
  stage_ = Stage::Split;
  part_ = part;
}

void HostFractionSearch::tryHost() {
  const bool done = trials_.back().part >= 1.0;
  if (done || hostAlone_ >= (1.0 - kGain) * best()) return settle();
  stage_ = Stage::Host;
  part_ = 1.0;
}

double HostFractionSearch::best() const {
  double seconds = devices_;
  for (const ShareTrial& trial : trials_) seconds = std::min(seconds, trial.stepSeconds);
  return seconds;
}

void HostFractionSearch::settle() {
  stage_ = Stage::Settled;
  part_ = 0.0;
  double shortest = (1.0 - kGain) * devices_;
  for (std::size_t n = 0; n < trials_.size(); ++n) {
    if (trials_[n].stepSeconds >= shortest) continue;
    shortest = trials_[n].stepSeconds;
    part_ = asked_[n];
  }
}

}  // namespace tessera::detail
