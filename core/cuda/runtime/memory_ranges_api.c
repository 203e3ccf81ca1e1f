/* What has been advised of managed memory: nothing, as hints change nothing. */
#include "core/cuda/runtime/both_apis.h"

#include <string.h>

/* In CUDA 12 a location's kind and number, too. */
enum {
    READ_MOSTLY = 1,
    PREFERRED_LOCATION,
    ACCESSED_BY,
    LAST_PREFETCH,
    PREFERRED_KIND,
    PREFERRED_NUMBER,
    PREFETCH_KIND,
    PREFETCH_NUMBER
};
enum { NO_DEVICE = -2 };

static int get_one(void *data, size_t bytes, int attribute) {
    const int32_t none = NO_DEVICE, zero = 0;
    bool is_list = attribute == ACCESSED_BY;
    if (!data || bytes < sizeof none || bytes % sizeof none || (!is_list && bytes != sizeof none))
        return CUDA_INVALID_VALUE;
    if (attribute < READ_MOSTLY || attribute > PREFETCH_NUMBER) return CUDA_INVALID_VALUE;
    bool is_zero = attribute == READ_MOSTLY || attribute == PREFERRED_KIND || attribute == PREFETCH_KIND;
    for (size_t at = 0; at < bytes; at += sizeof none)
        memcpy((uint8_t *)data + at, is_zero ? &zero : &none, sizeof none);
    return CUDA_OK;
}

static int check_range(uint64_t start, size_t count) {
    const WarpRange *range = warp_range(start);
    bool is_managed = range && (range->kind == RANGE_MANAGED || range->kind == RANGE_MANAGED_COPY);
    return is_managed && count && count <= range->start + range->bytes - start ? CUDA_OK : CUDA_INVALID_VALUE;
}

static int get_all(void **data, const size_t *bytes, const int *attributes, size_t attribute_count,
                   uint64_t start, size_t count) {
    int problem = check_range(start, count);
    if (!problem && (!data || !bytes || !attributes || !attribute_count)) problem = CUDA_INVALID_VALUE;
    for (size_t i = 0; i < attribute_count && !problem; i++)
        problem = get_one(data[i], bytes[i], attributes[i]);
    return problem;
}

ApiResult range_attribute(void *data, size_t bytes, int attribute, uint64_t start, size_t count)
    NAMED("MemRangeGetAttribute");
ApiResult range_attribute(void *data, size_t bytes, int attribute, uint64_t start, size_t count) {
    ANSWER(get_all(&data, &bytes, &attribute, 1, start, count));
}

ApiResult range_attributes(void **data, size_t *bytes, int *attributes, size_t attribute_count,
                           uint64_t start, size_t count) NAMED("MemRangeGetAttributes");
ApiResult range_attributes(void **data, size_t *bytes, int *attributes, size_t attribute_count,
                           uint64_t start, size_t count) {
    ANSWER(get_all(data, bytes, attributes, attribute_count, start, count));
}
