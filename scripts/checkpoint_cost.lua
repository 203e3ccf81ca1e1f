-- What checkpoints cost; `help` below says how it is called.
local ww = require "warpwright"
local core = require "warpwright.core"
local command_line = require "scripts.lib.command_line"

local help = [==[
usage: warpwright scripts/checkpoint_cost.lua [WORKLOAD [SIZE [EVERY]]]

Prints processor time and size of a checkpoint, and of a run that makes them: k-means, medium and a checkpoint every million
cycles unless told otherwise.
]==]

if command_line.helped(arg, help) then return end
local workload, size, every = arg[1] or "kmeans", arg[2] or "medium", math.tointeger(tonumber(arg[3] or 1000000))
if #arg > 3 or not every then error("usage: warpwright scripts/checkpoint_cost.lua [WORKLOAD [SIZE [EVERY]]]", 0) end
local runs = 3

local folder = os.tmpname()
os.remove(folder)
core.make_folder(folder)

local function file_size(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:seek "end"
  file:close()
  return bytes
end

--- Bytes of this process in memory.
local function resident()
  local file = assert(io.open("/proc/self/statm"))
  local _, pages = file:read("n", "n")
  file:close()
  return pages * 4096
end

--- Elapsed seconds, from any moment on.
local function now()
  local file = assert(io.open("/proc/uptime"))
  local seconds = file:read "n"
  file:close()
  return seconds
end

local function save_once()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start(workload, size)
  if sim:run { until_cycle = every } then error(("EVERY: expected a cycle before the end of %s %s, got %d"):format(workload, size, every), 0) end
  local path, bytes = folder .. "/one.ckpt", resident()
  print(("%s %s, gto, at cycle %d"):format(workload, size, every))
  for _ = 1, runs do
    local started, elapsed = os.clock(), now()
    sim:checkpoint(path)
    print(("  saved in %.3f s of processor time, %.2f s elapsed"):format(os.clock() - started, now() - elapsed))
  end
  print(("  %.2f MB, %.1f %% of the %.1f MB that the process has in memory"):format(file_size(path) / 1e6,
    100 * file_size(path) / bytes, bytes / 1e6))
  sim:close()
end

local function run_once(interval)
  local started = os.clock()
  local r = ww.run {
    config = "gtx480", workload = workload, size = size, policy = "gto", out = folder .. "/run", checkpoint_every = interval,
  }
  local seconds, saved = os.clock() - started, 0
  for _, name in ipairs(core.list_folder(r.out)) do
    if name:find "%.ckpt$" then
      saved = saved + 1
      os.remove(r.out .. "/" .. name)
    end
  end
  return seconds, saved, r.cycles
end

save_once()
local sums = { with = 0, without = 0 }
for _ = 1, runs do
  local without, _, cycles = run_once(nil)
  local with, saved = run_once(every)
  print(("a run of %d cycles: %.2f s of processor time, with %d checkpoints %.2f s"):format(cycles, without, saved, with))
  sums.with, sums.without = sums.with + with, sums.without + without
end
print(("checkpoints cost %.1f %% of the processor time"):format(100 * (sums.with / sums.without - 1)))
os.execute("rm -rf " .. folder)
