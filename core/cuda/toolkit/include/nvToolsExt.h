/* Marks and ranges for profilers: they do nothing. */
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_

#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVTX_VERSION                  2
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_INLINE                   static __inline__ __attribute__((unused))

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define NVTX_NOTHING(result, name, parameters, value)                                                        \
    NVTX_INLINE result name parameters {                                                                     \
        return value;                                                                                        \
    }
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
NVTX_NOTHING(void, nvtxMarkA, (const char *message), )
NVTX_NOTHING(void, nvtxMarkW, (const wchar_t *message), )
NVTX_NOTHING(void, nvtxMarkEx, (const nvtxEventAttributes_t *attributes), )
NVTX_NOTHING(int, nvtxRangePushA, (const char *message), 0)
NVTX_NOTHING(int, nvtxRangePushW, (const wchar_t *message), 0)
NVTX_NOTHING(int, nvtxRangePushEx, (const nvtxEventAttributes_t *attributes), 0)
NVTX_NOTHING(int, nvtxRangePop, (void), 0)
NVTX_NOTHING(nvtxRangeId_t, nvtxRangeStartA, (const char *message), 0)
NVTX_NOTHING(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *message), 0)
NVTX_NOTHING(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *attributes), 0)
NVTX_NOTHING(void, nvtxRangeEnd, (nvtxRangeId_t range), )
NVTX_NOTHING(void, nvtxNameCategoryA, (uint32_t category, const char *name), )
NVTX_NOTHING(void, nvtxNameOsThreadA, (uint32_t thread, const char *name), )
NVTX_NOTHING(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), 0)
NVTX_NOTHING(void, nvtxDomainDestroy, (nvtxDomainHandle_t domain), )
NVTX_NOTHING(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char *string),
             0)
NVTX_NOTHING(void, nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), )
NVTX_NOTHING(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes),
             0)
NVTX_NOTHING(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), 0)
NVTX_NOTHING(nvtxRangeId_t, nvtxDomainRangeStartEx,
             (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), 0)
NVTX_NOTHING(void, nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range), )
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef NVTX_NOTHING

#define nvtxMark         nvtxMarkA
#define nvtxRangePush    nvtxRangePushA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA

#ifdef __cplusplus
}
#endif

#endif
