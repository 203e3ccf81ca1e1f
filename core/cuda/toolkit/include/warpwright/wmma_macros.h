/* The pieces of which wmma_shapes.h makes fragments, loads, stores and products. */

/* A list of 1, 2, 4 or 8 registers: their names in assembly, as results, as arguments. */
#define WARPWRIGHT_NAMES_1(v) "{%[" #v "0]}"
#define WARPWRIGHT_NAMES_2(v) "{%[" #v "0], %[" #v "1]}"
#define WARPWRIGHT_NAMES_4(v) "{%[" #v "0], %[" #v "1], %[" #v "2], %[" #v "3]}"
#define WARPWRIGHT_NAMES_8(v)                                                                                \
    "{%[" #v "0], %[" #v "1], %[" #v "2], %[" #v "3], %[" #v "4], %[" #v "5], %[" #v "6], %[" #v "7]}"
#define WARPWRIGHT_OUT_1(v, letter) [v##0] "=" letter(v[0])
#define WARPWRIGHT_OUT_2(v, letter) WARPWRIGHT_OUT_1(v, letter), [v##1] "=" letter(v[1])
#define WARPWRIGHT_OUT_4(v, letter)                                                                          \
    WARPWRIGHT_OUT_2(v, letter), [v##2] "=" letter(v[2]), [v##3] "=" letter(v[3])
#define WARPWRIGHT_OUT_8(v, letter)                                                                          \
    WARPWRIGHT_OUT_4(v, letter), [v##4] "=" letter(v[4]), [v##5] "=" letter(v[5]), [v##6] "=" letter(v[6]),  \
        [v##7] "=" letter(v[7])
#define WARPWRIGHT_IN_1(v, letter) [v##0] letter(v[0])
#define WARPWRIGHT_IN_2(v, letter) WARPWRIGHT_IN_1(v, letter), [v##1] letter(v[1])
#define WARPWRIGHT_IN_4(v, letter) WARPWRIGHT_IN_2(v, letter), [v##2] letter(v[2]), [v##3] letter(v[3])
#define WARPWRIGHT_IN_8(v, letter)                                                                           \
    WARPWRIGHT_IN_4(v, letter), [v##4] letter(v[4]), [v##5] letter(v[5]), [v##6] letter(v[6]),               \
        [v##7] letter(v[7])

/* The registers' types by their letters. */
#define WARPWRIGHT_REGISTER_r unsigned
#define WARPWRIGHT_REGISTER_f float
#define WARPWRIGHT_REGISTER_d double

/* `count` registers of `letter`, which hold x. */
#define WARPWRIGHT_FRAGMENT(use, m, n, k, type, element, count, letter)                                      \
    template <class Layout> class fragment<use, m, n, k, type, Layout> {                                     \
      public:                                                                                                \
        typedef element element_type;                                                                        \
        typedef element storage_element_type;                                                                \
        static constexpr int num_elements = count * sizeof(WARPWRIGHT_REGISTER_##letter) / sizeof(element);  \
        static constexpr int num_storage_elements = num_elements;                                            \
        element x[num_elements];                                                                             \
    };

#define WARPWRIGHT_LOAD(use, part, layout, name, m, n, k, type, memory, suffix, count, letter)               \
    WARPWRIGHT_DEVICE void load_matrix_sync(fragment<use, m, n, k, type, layout> &to, const memory *from,    \
                                            unsigned stride) {                                               \
        WARPWRIGHT_REGISTER_##letter v[count];                                                               \
        asm volatile("wmma.load." part ".sync.aligned." name ".m" #m "n" #n "k" #k "." suffix                \
                     " " WARPWRIGHT_NAMES_##count(v) ", [%[from]], %[stride];"                               \
                     : WARPWRIGHT_OUT_##count(v, #letter)                                                    \
                     : [from] "l"(from), [stride] "r"(stride)                                                \
                     : "memory");                                                                            \
        memcpy(to.x, v, sizeof v);                                                                           \
    }

/* Matrices A and B, where either may have rows or columns one behind the other in memory. */
#define WARPWRIGHT_OPERANDS(m, n, k, type, memory, element, suffix, count_a, count_b, letter)                \
    WARPWRIGHT_FRAGMENT(matrix_a, m, n, k, type, element, count_a, letter)                                   \
    WARPWRIGHT_FRAGMENT(matrix_b, m, n, k, type, element, count_b, letter)                                   \
    WARPWRIGHT_LOAD(matrix_a, "a", row_major, "row", m, n, k, type, memory, suffix, count_a, letter)         \
    WARPWRIGHT_LOAD(matrix_a, "a", col_major, "col", m, n, k, type, memory, suffix, count_a, letter)         \
    WARPWRIGHT_LOAD(matrix_b, "b", row_major, "row", m, n, k, type, memory, suffix, count_b, letter)         \
    WARPWRIGHT_LOAD(matrix_b, "b", col_major, "col", m, n, k, type, memory, suffix, count_b, letter)

#define WARPWRIGHT_STORE_AS(layout, m, n, k, suffix, count, letter)                                          \
    asm volatile("wmma.store.d.sync.aligned." layout ".m" #m "n" #n "k" #k "." suffix                        \
                 " [%[to]], " WARPWRIGHT_NAMES_##count(v) ", %[stride];" ::[to] "l"(to),                     \
                 [stride] "r"(stride), WARPWRIGHT_IN_##count(v, #letter)                                     \
                 : "memory")
#define WARPWRIGHT_LOAD_AS(layout, m, n, k, suffix, count, letter)                                           \
    asm volatile("wmma.load.c.sync.aligned." layout ".m" #m "n" #n "k" #k "." suffix                         \
                 " " WARPWRIGHT_NAMES_##count(v) ", [%[from]], %[stride];"                                   \
                 : WARPWRIGHT_OUT_##count(v, #letter)                                                        \
                 : [from] "l"(from), [stride] "r"(stride)                                                    \
                 : "memory")
#define WARPWRIGHT_ACCUMULATOR(m, n, k, type, suffix, count, letter)                                         \
    WARPWRIGHT_FRAGMENT(accumulator, m, n, k, type, type, count, letter)                                     \
    WARPWRIGHT_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, type> &to, const type *from,      \
                                            unsigned stride, layout_t layout) {                              \
        WARPWRIGHT_REGISTER_##letter v[count];                                                               \
        if (layout == mem_row_major)                                                                         \
            WARPWRIGHT_LOAD_AS("row", m, n, k, suffix, count, letter);                                       \
        else                                                                                                 \
            WARPWRIGHT_LOAD_AS("col", m, n, k, suffix, count, letter);                                       \
        memcpy(to.x, v, sizeof v);                                                                           \
    }                                                                                                        \
    WARPWRIGHT_DEVICE void store_matrix_sync(type *to, const fragment<accumulator, m, n, k, type> &from,     \
                                             unsigned stride, layout_t layout) {                             \
        WARPWRIGHT_REGISTER_##letter v[count];                                                               \
        memcpy(v, from.x, sizeof v);                                                                         \
        if (layout == mem_row_major)                                                                         \
            WARPWRIGHT_STORE_AS("row", m, n, k, suffix, count, letter);                                      \
        else                                                                                                 \
            WARPWRIGHT_STORE_AS("col", m, n, k, suffix, count, letter);                                      \
    }

/* d = a * b + c. `types` is as PTX has it; D and C are of type_d and type_c, in registers of their letters. */
#define WARPWRIGHT_PRODUCT_AS(function, operation, layout_a, layout_b, names, m, n, k, type, count_a,        \
                              count_b, letter, types, type_d, count_d, letter_d, type_c, count_c, letter_c)  \
    WARPWRIGHT_DEVICE void function(fragment<accumulator, m, n, k, type_d> &to,                              \
                                    const fragment<matrix_a, m, n, k, type, layout_a> &left,                 \
                                    const fragment<matrix_b, m, n, k, type, layout_b> &right,                \
                                    const fragment<accumulator, m, n, k, type_c> &added) {                   \
        WARPWRIGHT_REGISTER_##letter a[count_a], b[count_b];                                                 \
        WARPWRIGHT_REGISTER_##letter_c c[count_c];                                                           \
        WARPWRIGHT_REGISTER_##letter_d d[count_d];                                                           \
        memcpy(a, left.x, sizeof a);                                                                         \
        memcpy(b, right.x, sizeof b);                                                                        \
        memcpy(c, added.x, sizeof c);                                                                        \
        asm volatile("wmma.mma" operation ".sync.aligned." names ".m" #m "n" #n "k" #k "." types             \
                     " " WARPWRIGHT_NAMES_##count_d(d) ", " WARPWRIGHT_NAMES_##count_a(                      \
                         a) ", " WARPWRIGHT_NAMES_##count_b(b) ", " WARPWRIGHT_NAMES_##count_c(c) ";"        \
                     : WARPWRIGHT_OUT_##count_d(d, #letter_d)                                                \
                     : WARPWRIGHT_IN_##count_a(a, #letter), WARPWRIGHT_IN_##count_b(b, #letter),             \
                       WARPWRIGHT_IN_##count_c(c, #letter_c));                                               \
        memcpy(to.x, d, sizeof d);                                                                           \
    }
#define WARPWRIGHT_PRODUCT(...)                                                                              \
    WARPWRIGHT_PRODUCT_AS(mma_sync, "", row_major, row_major, "row.row", __VA_ARGS__)                        \
    WARPWRIGHT_PRODUCT_AS(mma_sync, "", row_major, col_major, "row.col", __VA_ARGS__)                        \
    WARPWRIGHT_PRODUCT_AS(mma_sync, "", col_major, row_major, "col.row", __VA_ARGS__)                        \
    WARPWRIGHT_PRODUCT_AS(mma_sync, "", col_major, col_major, "col.col", __VA_ARGS__)
/* Sums of integers that stop at the largest and the smallest one. */
#define WARPWRIGHT_SATURATED(...)                                                                            \
    WARPWRIGHT_PRODUCT_AS(__warpwright_mma_saturated, "", row_major, row_major, "row.row", __VA_ARGS__)      \
    WARPWRIGHT_PRODUCT_AS(__warpwright_mma_saturated, "", row_major, col_major, "row.col", __VA_ARGS__)      \
    WARPWRIGHT_PRODUCT_AS(__warpwright_mma_saturated, "", col_major, row_major, "col.row", __VA_ARGS__)      \
    WARPWRIGHT_PRODUCT_AS(__warpwright_mma_saturated, "", col_major, col_major, "col.col", __VA_ARGS__)
