/* clang includes this file by name. The host compiler is clang itself: nothing to configure. */
