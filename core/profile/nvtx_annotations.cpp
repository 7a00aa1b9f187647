#include "core/profile/nvtx_annotations.hpp"

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

nvtxEventAttributes_t eventOf(NvtxAnnotations::Name name, std::int64_t payload) {
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

NvtxAnnotations::NvtxAnnotations() {
  if (!nvtxToolRequested()) return;
  domain_ = nvtxDomainCreateA("Tessera");
  if (domain_ == nullptr)
    notice_ = "NVTX_INJECTION64_PATH is set, but NVTX could load no tool from it; check the path";
}

NvtxAnnotations::~NvtxAnnotations() {
  if (active()) nvtxDomainDestroy(domainOf(domain_));
}

NvtxAnnotations::Name NvtxAnnotations::name(const std::string& text) {
  return nvtxDomainRegisterStringA(domainOf(domain_), text.c_str());
}

void NvtxAnnotations::push(Name name, std::int64_t payload) {
  const nvtxEventAttributes_t event = eventOf(name, payload);
  nvtxDomainRangePushEx(domainOf(domain_), &event);
}

void NvtxAnnotations::pop() { nvtxDomainRangePop(domainOf(domain_)); }

std::uint64_t NvtxAnnotations::start(Name name, std::int64_t payload) {
  const nvtxEventAttributes_t event = eventOf(name, payload);
  return nvtxDomainRangeStartEx(domainOf(domain_), &event);
}

void NvtxAnnotations::end(std::uint64_t range) { nvtxDomainRangeEnd(domainOf(domain_), range); }

#else

NvtxAnnotations::NvtxAnnotations() {
  if (nvtxToolRequested()) {
    notice_ =
        "NVTX_INJECTION64_PATH is set, but this build found no headers of NVTX, so no tool sees the tasks; "
        "name the folder that holds nvtx3/nvToolsExt.h in TESSERA_NVTX_INCLUDE and build again";
  }
}

NvtxAnnotations::~NvtxAnnotations() = default;

NvtxAnnotations::Name NvtxAnnotations::name(const std::string&) { return nullptr; }

void NvtxAnnotations::push(Name, std::int64_t) {}

void NvtxAnnotations::pop() {}

std::uint64_t NvtxAnnotations::start(Name, std::int64_t) { return 0; }

void NvtxAnnotations::end(std::uint64_t) {}

#endif

}  // namespace tessera
