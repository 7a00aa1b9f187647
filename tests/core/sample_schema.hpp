#pragma once

#include <string>

#include "core/deck/schema.hpp"

namespace tessera::test {

/// A schema like that of a real run with the component `heat` selected and `wave` known.
Schema sampleSchema();

/// A deck that this schema accepts: the one of the design document.
std::string sampleDeck();

}  // namespace tessera::test
