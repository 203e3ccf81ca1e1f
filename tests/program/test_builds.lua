-- The same stats byte for byte from every repetition and from every build: gcc's, clang's, and those with sanitizers,
-- which find bad memory accesses and, with two threads and less data, data races on the way. A build that does not
-- exist is skipped; scripts/test makes them all.
local harness = require "tests.lib.harness"

local builds = { "opt", "asan-clang", "tsan" }
local threads = { tsan = 2 }
-- The thread sanitizer slows a run down 40 times, and looks for races, which less data has as well.
local all_data = { vecadd = "", sgemm = "", spmv = "", kmeans = "", bfs = "", gesummv = "" }
local less_data = {
  vecadd = ",n=131072", sgemm = ",k=32", spmv = ",rows=4096,longest=12", kmeans = ",iterations=1,features=8",
  bfs = ",nodes=4096", gesummv = ",columns=16",
}
local data_of = { tsan = less_data }
local folder = arg[-1]:match("^(.*)/[^/]*/warpwright$") or "build"

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function stats_of(program, workload, data, policy, name, thread_count)
  local out = harness.folder() .. "/" .. name
  local command = ("'%s' run gtx480 %s --size small%s --policy %s --threads %d --out '%s' 2>&1"):format(program, workload,
    data[workload], policy, thread_count, out)
  local pipe = assert(io.popen(command))
  local output = pipe:read("a")
  assert(pipe:close(), output)
  return harness.read(out .. "/stats.txt")
end

for _, workload in ipairs { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" } do
  local policy = workload == "spmv" and "lrr" or "gto"
  local want = {}
  for _, data in ipairs { all_data, less_data } do
    want[data] = stats_of(arg[-1], workload, data, policy, "first", 1)
  end
  for _, build in ipairs(builds) do
    local program = ("%s/%s/warpwright"):format(folder, build)
    harness.test(("%s gives the same stats in build %s"):format(workload, build), function()
      if not exists(program) then harness.skip("there is no " .. program) end
      local data = data_of[build] or all_data
      assert(stats_of(program, workload, data, policy, build, threads[build] or 1) == want[data], "stats.txt differs")
    end)
  end
end

harness.finish()
