#include "scheduler/jobs/form_choice.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::jobs {

const char* sourceText(FormSource source) {
  constexpr const char* kTexts[] = {"declared", "measured", "earlier runs"};
  return kTexts[static_cast<std::size_t>(source)];
}

FormChoice::FormChoice(const std::vector<JobForm>& among, FormSource source) : source_(source) {
  TESSERA_EXPECT(!among.empty(), "name at least one form");
  for (const JobForm form : among) candidates_.push_back({form, 0, 0, 0.0});
}

FormChoice::Candidate* FormChoice::find(JobForm form) {
  const auto found =
      std::ranges::find_if(candidates_, [&](const Candidate& each) { return each.form == form; });
  return found == candidates_.end() ? nullptr : &*found;
}

void FormChoice::handedOut(JobForm form) {
  if (Candidate* candidate = find(form)) ++candidate->handedOut;
}

JobForm FormChoice::next() const {
  const auto least = std::ranges::min_element(candidates_, {}, &Candidate::handedOut);
  if (isMade() || least->handedOut < (isLastRound_ ? kTasks + 1 : kTasks)) return least->form;
  return std::ranges::max_element(candidates_, {}, &Candidate::rate)->form;
}

bool FormChoice::haveEnded(int tasks) const {
  return std::ranges::all_of(candidates_, [=](const Candidate& each) { return each.ended >= tasks; });
}

void FormChoice::ended(JobForm form, double rate) {
  Candidate* candidate = find(form);
  if (candidate == nullptr) return;
  ++candidate->ended;
  candidate->rate = candidate->ended <= kTasks ? std::max(candidate->rate, rate) : rate;
  if (isMade()) return;
  const double fastest = std::ranges::max_element(candidates_, {}, &Candidate::rate)->rate;
  if (!haveEnded(isLastRound_ ? kTasks + 1 : kTasks)) return;
  std::erase_if(candidates_, [=, this](const Candidate& each) {
    return each.rate < (isLastRound_ ? 1.0 : 0.5) * fastest;
  });
  if (isLastRound_) candidates_.resize(1);
  isLastRound_ = true;
}

bool FormChoice::exclude(JobForm form) {
  if (isMade()) return false;
  std::erase_if(candidates_, [&](const Candidate& each) { return each.form == form; });
  return true;
}

}  // namespace tessera::jobs
