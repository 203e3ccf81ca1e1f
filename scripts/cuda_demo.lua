-- Two CUDA programs, compiled by warpwright nvcc, on a GTX 480 under two warp schedulers. Each
-- checks its own results.
local core = require "warpwright.core"
local json = require "warpwright.json"

local programs <const>, policies <const> = { "reduction", "stencil" }, { "lrr", "gto" }
local warpwright <const> = core.real_path "/proc/self/exe"

local function run(command)
  print("$ " .. command:gsub(warpwright:gsub("%p", "%%%0"), "warpwright"))
  io.stdout:flush()
  local ok, _, status = os.execute(command)
  if not ok then core.user_error(("cuda_demo: a command ended with status %d"):format(status)) end
end

local function read_stats(folder)
  local file = assert(io.open(folder .. "/stats.json", "rb"))
  local stats = json.decode(file:read "a").stats
  file:close()
  return stats
end

local rows = {}
os.execute "mkdir -p build/cuda_demo"
for _, name in ipairs(programs) do
  local program = "build/cuda_demo/" .. name
  run(("%s nvcc -O2 -o %s workloads/cuda/%s.cu"):format(warpwright, program, name))
  for _, policy in ipairs(policies) do
    local out = ("%s-%s"):format(program, policy)
    run(("%s cuda gtx480 --policy %s --out %s -- %s"):format(warpwright, policy, out, program))
    local stats = read_stats(out)
    rows[#rows + 1] = ("%-10s %-6s %8d %9d %8.1f"):format(name, policy, stats["run.launches"], stats["run.cycles"], stats["run.ipc"])
  end
end
print(("\n%-10s %-6s %8s %9s %8s"):format("program", "policy", "launches", "cycles", "IPC"))
print(table.concat(rows, "\n"))
