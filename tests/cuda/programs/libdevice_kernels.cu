// A kernel for each function of the device library: each thread makes one call.
#define DEVICE  __attribute__((device, always_inline))
#define DECLARE extern "C" __attribute__((device))
#include "libdevice_calls.h"

#define KERNEL(name)                                                                                      \
    extern "C" __attribute__((global)) void name(const u64 *in, u64 *out)                                 \
    {                                                                                                     \
        uint thread = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); \
        call_##name(in + WORDS_IN * thread, out + WORDS_OUT * thread);                                    \
    }
#define CALL1(name, ...)       KERNEL(name)
#define CALL2(name, ...)       KERNEL(name)
#define CALL3(name, ...)       KERNEL(name)
#define CALL4(name, ...)       KERNEL(name)
#define CALL1_AND(name, ...)   KERNEL(name)
#define CALL2_AND(name, ...)   KERNEL(name)
#define TWO_RESULTS(name, ...) KERNEL(name)
#define VECTOR(name, ...)      KERNEL(name)
#include "libdevice_functions.h"
