#pragma once

namespace tessera {

/// At the start of the program: opens /dev/null in the place of a standard stream that is closed (a file
/// opened later would take its number, and get what is printed), raises the limits that may be raised, and
/// throws InternalError where one of them is too low for any run, because libraries answer that by a crash.
void settleProcess();

/// Holds the signals back that ask to stop, until somebody is there who listens to them.
void holdStopSignals();

/// At its end, where what was asked for is on standard output: throws OutputError where a full disk, or a
/// reader who has gone, has swallowed some of it.
void requirePrinted();

}  // namespace tessera
