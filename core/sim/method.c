#include "core/sim/method.h"

#include <string.h>

void method_refuse(MethodCall *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->refusal, sizeof call->refusal, format, arguments);
    va_end(arguments);
}

MethodBounds method_bounds(const MethodParameter *parameter, const SimObject *object) {
    if (parameter->below)
        return (MethodBounds){0,
                              (int64_t) * (const uint32_t *)((const char *)object + parameter->below_at) - 1};
    if (parameter->min == 0 && parameter->max == 0) return (MethodBounds){INT64_MIN, INT64_MAX};
    return (MethodBounds){parameter->min, parameter->max};
}

const Method *class_method(const Class *class, const char *name) {
    for (const Method *method = class->methods; method && method->name; method++)
        if (strcmp(method->name, name) == 0) return method;
    return NULL;
}
