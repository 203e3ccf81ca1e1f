#include "core/sim/method.h"

#include <string.h>

void method_refuse(MethodCall *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->refusal, sizeof call->refusal, format, arguments);
    va_end(arguments);
}

const Method *class_method(const Class *class, const char *name) {
    for (const Method *method = class->methods; method && method->name; method++)
        if (strcmp(method->name, name) == 0) return method;
    return NULL;
}
