#include "core/gpu/device/gpu.h"
#include "core/lua/host/interpreter.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* jemalloc reads it: its memory is in the host's huge pages where these are to be had. A large run takes most of its time
 * between launches for page faults else. */
extern const char *malloc_conf;
const char *malloc_conf = "thp:always";

static bool stdout_has_arrived(void) {
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* Whatever ends the program, a script's os.exit() too: what was printed must have arrived. */
static void check_stdout(int status, void *unused) {
    (void)unused;
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before) return;
    fprintf(stderr, "warpwright: error: stdout: expected all output to be written, got: %s\n",
            errno ? strerror(errno) : "a failed write");
    _exit(status ? status : EXIT_USER_ERROR);
}

int main(int argc, char **argv) {
    on_exit(check_stdout, NULL);
    signal(SIGUSR2, SIG_IGN); /* asks a run to show how far it is; what is no run has nothing to show */
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, not the end of the run */
    class_register_all();
    char *home = interpreter_find_home();
    lua_State *L = interpreter_new(home);
    int status = interpreter_run(L, argc, argv);
    if (status == 1 && !stdout_has_arrived()) status = EXIT_USER_ERROR; /* a verdict that nobody can read */
    lua_close(L);
    free(home);
    return status;
}
