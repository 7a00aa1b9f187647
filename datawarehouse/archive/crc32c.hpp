#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// CRC-32C (Castagnoli, as in iSCSI and ext4) of `bytes`; "123456789" gives 0xE3069283.
/// Pieces are chained by handing on the result: crc32c(b, crc32c(a)) == crc32c(a followed by b).
/// Guards against accidents, not against malice. Uses the processor's instruction where it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

namespace detail {
/// The two paths behind `crc32c`; same results. The second one may only be called where the third says true.
std::uint32_t crc32cByTable(std::span<const std::byte> bytes, std::uint32_t previous);
std::uint32_t crc32cByInstruction(std::span<const std::byte> bytes, std::uint32_t previous);
bool crc32cInstructionAvailable();
}  // namespace detail

}  // namespace tessera
