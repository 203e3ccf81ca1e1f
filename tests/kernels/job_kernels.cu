// Kernels for test_job_kernels.lua that use what the reference jobs do not: atomics whose results are used on some paths
// only, a fence and a last CTA, votes, arrays in local memory that registers index, tables in constant memory.
//   clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_20 -nocudainc -nocudalib -O3 -S job_kernels.cu -o
//   job_kernels.ptx
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define TID    __nvvm_read_ptx_sreg_tid_x()
#define CTA    __nvvm_read_ptx_sreg_ctaid_x()
#define CTAS   __nvvm_read_ptx_sreg_nctaid_x()
#define SIZE   __nvvm_read_ptx_sreg_ntid_x()

static inline __attribute__((device)) void barrier(void) { asm volatile("bar.sync 0;" ::: "memory"); }

static inline __attribute__((device)) unsigned ballot(bool p) {
    unsigned lanes;
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.ballot.b32 %0, q; }" : "=r"(lanes) : "r"((unsigned)p));
    return lanes;
}

// The maximum by compare and swap, the xor and the sum of n numbers.
KERNEL combine(int *results, const int *numbers, int n) {
    int i = CTA * SIZE + TID;
    if (i >= n) return;
    int mine = numbers[i] >> 2, old = results[0];
    while (mine > old) {
        int seen = __nvvm_atom_cas_gen_i(results, old, mine);
        if (seen == old) break;
        old = seen;
    }
    __nvvm_atom_xor_gen_i(results + 1, numbers[i]);
    __nvvm_atom_add_gen_i(results + 2, mine);
}

// The sum of n numbers: the CTA that is done last adds up those of all.
KERNEL reduce(const int *numbers, volatile int *partial, unsigned *done, int *sum, int n) {
    SHARED static int s[128];
    SHARED static int last;
    int t = TID, own = 0;
    for (int i = CTA * SIZE + t; i < n; i += SIZE * CTAS)
        own += numbers[i] & 1023;
    s[t] = own;
    barrier();
    for (int half = 64; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        barrier();
    }
    if (t == 0) {
        partial[CTA] = s[0];
        __nvvm_membar_gl();
        last = __nvvm_atom_inc_gen_ui(done, CTAS - 1) == (unsigned)CTAS - 1;
    }
    barrier();
    if (!last || t != 0) return;
    int all = 0;
    for (int i = 0; i < CTAS; i++)
        all += partial[i];
    *sum = all;
}

// Sorts 256 numbers per CTA by four of their bits, stably.
KERNEL radix_pass(const unsigned *from, unsigned *to, int shift) {
    SHARED static int count[8][16], first[16];
    int t = TID, warp = t >> 5, lane = t & 31;
    unsigned number = from[CTA * 256 + t], digit = number >> shift & 15, same = 0;
    for (unsigned d = 0; d < 16; d++) {
        unsigned lanes = ballot(digit == d);
        if (digit == d) same = lanes;
        if (lane == 0) count[warp][d] = __builtin_popcount(lanes);
    }
    barrier();
    if (t < 16) {
        int before = 0;
        for (int w = 0; w < 8; w++) {
            int here = count[w][t];
            count[w][t] = before;
            before += here;
        }
        first[t] = before;
    }
    barrier();
    if (t == 0) {
        int before = 0;
        for (int d = 0; d < 16; d++) {
            int here = first[d];
            first[d] = before;
            before += here;
        }
    }
    barrier();
    to[CTA * 256 + first[digit] + count[warp][digit] + __builtin_popcount(same & ((1u << lane) - 1))] = number;
}

__attribute__((constant)) int steps[8] = {3, 1, 4, 1, 5, 9, 2, 6};

// Swaps the numbers of an array about, each with the one whose place its low bits tell.
KERNEL shuffle(const unsigned *from, unsigned *to, int n) {
    int i = CTA * SIZE + TID;
    if (i >= n) return;
    unsigned own[16], sum = 0;
    for (int k = 0; k < 16; k++)
        own[k] = from[(i + k * 37) % n];
    for (unsigned k = 0; k < 16; k++) {
        unsigned number = own[k], other = number & 15;
        own[k] = own[other];
        own[other] = number * 3 + steps[number >> 5 & 7];
    }
    for (int k = 0; k < 16; k++)
        sum = sum * 31 + own[k];
    to[i] = sum;
}
