-- Tests that other builds give the stats of this one, byte for byte. Those with sanitizers find bad memory accesses on the way and,
-- with two threads, data races. A build that does not exist is skipped; scripts/test makes those that it runs.
local harness = require "tests.lib.harness"

-- The thread sanitizer slows a run down 40 times, and looks for races, which less data has as well.
local less <const> = {
  vecadd = ",n=131072", sgemm = ",k=32", spmv = ",rows=4096,longest=12", kmeans = ",iterations=1,features=8",
  bfs = ",nodes=4096", gesummv = ",columns=16",
}

local folder <const> = arg[-1]:match "^(.*)/[^/]*/warpwright$" or "build"

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function stats_of(program, workload, options, name)
  local out = harness.folder() .. "/" .. name
  local status = os.execute(("'%s' run gtx480 %s --size small%s --policy %s --threads %d --out '%s' > '%s.txt' 2>&1"):format(program, workload,
    options.less and less[workload] or "", workload == "spmv" and "lrr" or "gto", options.threads or 1, out, out))
  if not status then error(harness.read(out .. ".txt"), 0) end
  return harness.read(out .. "/stats.txt")
end

--- Named tests of a build, on six workloads. `options.less`: on less data; `options.threads`: of its runs.
return function(build, options)
  local program = ("%s/%s/warpwright"):format(folder, build)
  for _, workload in ipairs { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" } do
    harness.test(("%s gives the same stats in build %s"):format(workload, build), function()
      if not exists(program) then harness.skip("there is no " .. program) end
      local want = stats_of(arg[-1], workload, { less = options.less }, "first")
      assert(stats_of(program, workload, options, build) == want, "stats.txt differs")
    end)
  end
end
