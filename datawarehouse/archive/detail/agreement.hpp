#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"

namespace tessera::detail {

/// How a piece of work ended: a result, or the sentence that says why there is none.
struct Outcome {
  bool ok = false;
  std::string text;
};

/// Does `work` and turns whatever it throws into an Outcome. No rank may leave a collective sequence by an
/// exception: the others would wait for it for ever.
Outcome attempt(const std::function<std::string()>& work);

/// Rank 0 does `work`; every rank gets its outcome.
Outcome attemptOnRoot(Transport& transport, const std::function<std::string()>& work);

/// Every rank hands in its own outcome. Rank 0 then does `onSuccess` with all results in rank order, or
/// `onFailure` when any rank failed; every rank gets the one outcome. A failure names its rank.
Outcome agree(Transport& transport, const Outcome& mine,
              const std::function<std::string(const std::vector<std::string>&)>& onSuccess,
              const std::function<void()>& onFailure);

}  // namespace tessera::detail
