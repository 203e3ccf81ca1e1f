/* Ends what cuda_fp16.h and cuda_bf16.h define for sixteen_bit_types.h and those that follow it. */
#undef WARPWRIGHT_NUMBER
#undef WARPWRIGHT_PAIR
#undef WARPWRIGHT_RAW
#undef WARPWRIGHT_RAW_PAIR
#undef WARPWRIGHT_NAME
#undef WARPWRIGHT_TWICE_NAMED
#undef WARPWRIGHT_ENCODE
#undef WARPWRIGHT_DECODE
#undef WARPWRIGHT_BITS
#undef WARPWRIGHT_NATIVE
#undef WARPWRIGHT_ADD
#undef WARPWRIGHT_SUB
#undef WARPWRIGHT_MUL
#undef WARPWRIGHT_FMA
#undef WARPWRIGHT_TANH
#undef WARPWRIGHT_WITH
