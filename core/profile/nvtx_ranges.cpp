#include "core/profile/nvtx_ranges.hpp"

#include <cstdlib>

#if defined(TESSERA_HAVE_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace tessera {

namespace {

bool nvtxToolRequested() {
  const char* library = std::getenv("NVTX_INJECTION64_PATH");
  return library != nullptr && *library != '\0';
}

}  // namespace

#if defined(TESSERA_HAVE_NVTX)

namespace {

nvtxDomainHandle_t domainOf(void* domain) { return static_cast<nvtxDomainHandle_t>(domain); }

nvtxEventAttributes_t eventOf(NvtxRanges::Name name, std::int64_t payload) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = static_cast<nvtxStringHandle_t>(const_cast<void*>(name));
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = payload;
  return event;
}

}  // namespace

NvtxRanges::NvtxRanges() {
  if (!nvtxToolRequested()) return;
  domain_ = nvtxDomainCreateA("Tessera");
  if (domain_ == nullptr)
    notice_ = "NVTX_INJECTION64_PATH is set, but NVTX could load no tool from it; check the path";
}

NvtxRanges::~NvtxRanges() {
  if (active()) nvtxDomainDestroy(domainOf(domain_));
}

NvtxRanges::Name NvtxRanges::name(const std::string& text) {
  return nvtxDomainRegisterStringA(domainOf(domain_), text.c_str());
}

void NvtxRanges::push(Name name, std::int64_t payload) {
  const nvtxEventAttributes_t event = eventOf(name, payload);
  nvtxDomainRangePushEx(domainOf(domain_), &event);
}

void NvtxRanges::pop() { nvtxDomainRangePop(domainOf(domain_)); }

std::uint64_t NvtxRanges::start(Name name, std::int64_t payload) {
  const nvtxEventAttributes_t event = eventOf(name, payload);
  return nvtxDomainRangeStartEx(domainOf(domain_), &event);
}

void NvtxRanges::end(std::uint64_t range) { nvtxDomainRangeEnd(domainOf(domain_), range); }

#else

NvtxRanges::NvtxRanges() {
  if (nvtxToolRequested()) {
    notice_ =
        "NVTX_INJECTION64_PATH is set, but this build found no headers of NVTX, so no tool sees the tasks; "
        "name the folder that holds nvtx3/nvToolsExt.h in TESSERA_NVTX_INCLUDE and build again";
  }
}

NvtxRanges::~NvtxRanges() = default;

NvtxRanges::Name NvtxRanges::name(const std::string&) { return nullptr; }

void NvtxRanges::push(Name, std::int64_t) {}

void NvtxRanges::pop() {}

std::uint64_t NvtxRanges::start(Name, std::int64_t) { return 0; }

void NvtxRanges::end(std::uint64_t) {}

#endif

}  // namespace tessera
