-- Records what each L1 data cache is asked for, and when what it fetched came, into files for scripts/belady. It changes
-- nothing in the machine. A file is complete when its run has come to its end; one of a resumed run begins at the checkpoint.
local policy = require "warpwright.policy"

return policy "trace_l1" {
  doc = "Records the accesses of the L1 data caches, for scripts/belady; changes nothing",
  params = {
    folder = { "trace", doc = "Folder for the files, one for each cache: sm[0].l1d.trace" },
  },
  caches = "data",
  parts = {
    { class = "L1Trace", name = "trace", of = "cache",
      folder = function(params) return params.folder end },
  },
}
