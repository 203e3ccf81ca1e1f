/* Marks and ranges for profilers in C++: they do nothing. */
#ifndef WARPWRIGHT_NVTX3_HPP
#define WARPWRIGHT_NVTX3_HPP

#include "../nvToolsExt.h"

#include <stdint.h>

namespace nvtx3 {
inline namespace v1 {

struct rgb {
    constexpr rgb(uint8_t, uint8_t, uint8_t) noexcept {}
};
struct argb {
    constexpr argb(uint8_t, uint8_t, uint8_t, uint8_t) noexcept {}
};
struct color {
    constexpr color(uint32_t) noexcept {}
    constexpr color(rgb) noexcept {}
    constexpr color(argb) noexcept {}
};
struct category {
    constexpr category(uint32_t) noexcept {}
};
struct domain {
    struct global {};
};
template <class Domain = domain::global> struct named_category_in {
    template <class Text> named_category_in(uint32_t, const Text &) noexcept {}
    operator category() const noexcept { return category(0); }
    template <class Name> static const named_category_in &get() noexcept {
        static const named_category_in one(0, "");
        return one;
    }
};
using named_category = named_category_in<>;
template <class Domain = domain::global> struct registered_string_in {
    template <class Text> explicit registered_string_in(const Text &) noexcept {}
    template <class Name> static const registered_string_in &get() noexcept {
        static const registered_string_in one("");
        return one;
    }
};
using registered_string = registered_string_in<>;
struct message {
    template <class Text> constexpr message(const Text &) noexcept {}
};
struct payload {
    template <class Number> constexpr explicit payload(const Number &) noexcept {}
};
struct event_attributes {
    template <class... What> constexpr explicit event_attributes(const What &...) noexcept {}
};

template <class Domain = domain::global> struct scoped_range_in {
    template <class... What> explicit scoped_range_in(const What &...) noexcept {}
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    ~scoped_range_in() {} /* so that no compiler warns of one that is not used */
};
using scoped_range = scoped_range_in<>;
template <class Domain = domain::global> using unique_range_in = scoped_range_in<Domain>;
using unique_range = unique_range_in<>;
template <class Domain = domain::global> using scoped_thread_range_in = scoped_range_in<Domain>;
using scoped_thread_range = scoped_range;
using thread_range = scoped_range;

struct range_handle {};
template <class Domain = domain::global, class... What> range_handle start_range_in(const What &...) noexcept {
    return {};
}
template <class... What> range_handle start_range(const What &...) noexcept {
    return {};
}
template <class Domain = domain::global> void end_range_in(range_handle) noexcept {}
inline void end_range(range_handle) noexcept {}
template <class Domain = domain::global, class... What> void mark_in(const What &...) noexcept {}
template <class... What> void mark(const What &...) noexcept {}

} // namespace v1
} // namespace nvtx3

#define NVTX3_FUNC_RANGE()                 ((void)0)
#define NVTX3_FUNC_RANGE_IN(domain)        ((void)0)
#define NVTX3_FUNC_RANGE_IF(condition)     ((void)(condition))
#define NVTX3_FUNC_RANGE_IF_IN(domain, condition) ((void)(condition))
#define NVTX3_V1_FUNC_RANGE()              NVTX3_FUNC_RANGE()

#endif
