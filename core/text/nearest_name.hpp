#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// The known name that is most similar to an unknown one: for messages on decks and command
// lines. Pure, any thread.

/// Damerau-Levenshtein distance (insert, delete, replace, swap of neighbours cost 1 each), in bytes.
std::size_t editDistance(std::string_view a, std::string_view b);

/// The name that a writer most likely meant: the nearest within max(2, length/3) edits, the first of equals;
/// empty if none is near, or if nothing of the name would be left. Names above 200 bytes have no neighbour.
std::string nearestName(std::string_view written, const std::vector<std::string>& names);

/// "; did you mean 'cells'?" or "".
std::string didYouMean(std::string_view written, const std::vector<std::string>& names);

/// The same with all names behind it: "; did you mean 'heat'? Known are: heat, wave", "; known are: heat,
/// wave".
std::string didYouMeanOneOf(std::string_view written, const std::vector<std::string>& names);

}  // namespace tessera
