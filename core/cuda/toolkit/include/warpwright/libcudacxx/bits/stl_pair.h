/* libstdc++'s, in C++20 with the assignments of C++17: those of C++20 have constraints, and clang 14 crashes when it asks of CUDA
 * code whether a class with a pair in it can be assigned. */
#if __cplusplus < 202002L
#include_next <bits/stl_pair.h>
#elif !defined(WARPWRIGHT_STL_PAIR)
#define WARPWRIGHT_STL_PAIR

#include <compare>
#include <type_traits>

#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include_next <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")

/* Which has constraints, too. */
#if __cpp_lib_three_way_comparison && __cpp_lib_concepts
namespace std {
template <class A, class B>
constexpr common_comparison_category_t<__detail::__synth3way_t<A>, __detail::__synth3way_t<B>>
operator<=>(const pair<A, B> &x, const pair<A, B> &y) {
    if (auto order = __detail::__synth3way(x.first, y.first); order != 0) return order;
    return __detail::__synth3way(x.second, y.second);
}
} // namespace std
#endif

#endif
