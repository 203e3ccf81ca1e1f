#include "core/gpu/gpu.h"
#include "core/lua/interpreter.h"

#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, not the end of the run */
    gpu_register_classes();
    char *home = interpreter_find_home();
    lua_State *L = interpreter_new(home);
    int status = interpreter_run(L, argc, argv);
    lua_close(L);
    free(home);
    return status;
}
