#include "tools/simulation/deck/balance_table.hpp"

namespace tessera {

ParameterTable balanceTable() {
  ParameterTable table("balance", "How patches are dealt out to ranks; changes no bit of the result");
  table.choice("cost", {"cells", "measured"})
      .doc(
          "what a patch costs: \"cells\", times the steps of its level, or \"measured\", the seconds that "
          "its "
          "tasks took, which differ between runs")
      .defaultsTo("cells")
      .mayChangeOnRestart();
  table.real("memory")
      .doc("of \"measured\": what was known before counts this part, what was measured since then the rest")
      .range(0, 0.99)
      .defaultsTo(0.5)
      .mayChangeOnRestart();
  table.choice("curve", {"morton", "hilbert"})
      .doc("the curve through the patches that is cut into parts, one a rank")
      .defaultsTo("morton")
      .mayChangeOnRestart();
  table.choice("levels", {"apart", "together"})
      .doc(
          "\"apart\": each level is cut by itself, so that ranks have equal parts of each; \"together\": one "
          "cut "
          "through all of them, so that finer patches are mostly where the coarser cells under them are")
      .defaultsTo("apart")
      .mayChangeOnRestart();
  table.integer("every")
      .doc("steps from one look at the balance to the next; 0: only where the mesh changes")
      .atLeast(0)
      .defaultsTo(0)
      .mayChangeOnRestart();
  table.choice("when", {"it_pays", "always"})
      .doc(
          "patches change their ranks \"it_pays\": where that saves more seconds until the next look than it "
          "takes; \"always\": wherever the shares become more even")
      .defaultsTo("it_pays")
      .mayChangeOnRestart();
  return table;
}

BalanceSettings balanceSettingsOf(const ParameterValues& balance) {
  BalanceSettings settings;
  settings.rules.curve = balance.choice("curve") == "hilbert" ? Curve::Hilbert : Curve::Morton;
  settings.rules.together = balance.choice("levels") == "together";
  settings.measures = balance.choice("cost") == "measured";
  settings.memory = balance.real("memory");
  settings.every = balance.integer("every");
  settings.always = balance.choice("when") == "always";
  return settings;
}

}  // namespace tessera
