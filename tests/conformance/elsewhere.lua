-- Forms that have no reference here, by their beginning, and what compares them or why nothing does. A row of the decoder
-- that is prose stands by its first words.
return {
  { "bra", "random programs" }, { "ret", "random programs" },
  { "exit", "random programs" }, { "bar.sync", "random programs" },
  { "barrier.sync", "random programs" },
  { "bar.arrive", "test_barriers" }, { "barrier.arrive", "test_barriers" }, { "bar.red", "test_barriers" },
  { "barrier.red", "test_barriers" }, { "bar.warp", "computes nothing" }, { "membar", "computes nothing" },
  { "fence", "computes nothing" }, { "griddepcontrol", "computes nothing" }, { "setmaxnreg", "computes nothing" },
  { "discard", "computes nothing" }, { "applypriority", "computes nothing" }, { "pmevent", "computes nothing" },
  { "nanosleep", "computes nothing" }, { "prefetch", "computes nothing" }, { "prefetchu", "computes nothing" },
  { "trap", "test_faults" }, { "brkpt", "test_faults" },
  { "call.dma_", "test_dma, against plain loops" }, { "call.", "test_device_runtime" },
  { "match.", "not in the ISA without .sync" }, { "redux.", "not in the ISA without .sync" },
  { "cvta.", "test_exec" }, { "ld ", "forms are in access.lua" },
  { "st ", "forms are in access.lua" }, { "atom ", "forms are in access.lua" }, { "red ", "forms are in access.lua" },
  { "CACHE of ", "a list of modifiers" }, { "SPACE of ", "a list of modifiers" }, { "OPERATION: ", "a list of modifiers" },
  { "tex ", "test_textures, element for element" }, { "tld4 ", "test_texture_shapes" }, { "txq ", "test_texture_shapes" },
  { "suq ", "test_surfaces" }, { "suld ", "test_surfaces" }, { "sust ", "test_surfaces" }, { "sured ", "test_surfaces" },
  { "mma ", "forms are in matrix.lua; m8n8k4 of f16: test_matrices" }, { "wmma ", "test_matrices" },
  { "ldmatrix ", "test_matrices" }, { "stmatrix ", "test_matrices" }, { "movmatrix ", "test_matrices" },
  { "cp.async ", "test_async_copies" },
}
