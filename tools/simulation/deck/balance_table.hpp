#pragma once

#include <cstdint>

#include "core/deck/parameter_values.hpp"
#include "core/deck/parameters.hpp"
#include "grid/balance/deal_out.hpp"

namespace tessera {

/// The deck's [balance]: how patches are dealt out to ranks. Changes no bit of what a run computes.
struct BalanceSettings {
  DealRules rules{};
  bool measures = false;   ///< costs are seconds in tasks; else cells times steps
  double memory = 0.5;     ///< of measured costs: the part of what was known before in what is known now
  std::int64_t every = 0;  ///< steps from one look to the next; 0: where the mesh changes, and only there
  bool always = false;     ///< also where it does not pay
};

/// Declares [balance].
ParameterTable balanceTable();

BalanceSettings balanceSettingsOf(const ParameterValues& balance);

}  // namespace tessera
