-- Workloads side by side, as tenants of one GPU: each host program runs as if it were alone, and its kernels join those of the
-- others that are in flight.
local load = require "warpwright.load"
local workload = require "warpwright.workload"

local tenants = {}

--- What a tenant may not call: it is about all kernels of the GPU, or waits for them.
local alone <const> = { launch_together = true, try_launch_together = true, launch_async = true, try_launch_async = true, wait = true,
  try_launch = true, drain = true, bind_texture = true, set_heap = true, set_cycle_limit = true }

--- The GPU as a tenant sees it: a launch gives way to the others until its kernel has ended.
local function seen_by(gpu, name)
  return setmetatable({}, {
    __index = function(_, method)
      if alone[method] then error(("tenant %s: expected calls that concern no other tenant, got gpu:%s"):format(name, method), 0) end
      if method == "launch" then return function(_, kernel, options) return coroutine.yield(kernel, options) end end
      return function(_, ...) return gpu[method](gpu, ...) end
    end,
  })
end

--- A host program from its beginning, in a coroutine: { name =, number =, program =, instance = }.
local function begin(gpu, number, what)
  local w = load.get("workload", what.workload, ("tenant %d: "):format(number))
  local params = workload.resolve_size(w, what.size)
  if params.seed and what.seed then params.seed = what.seed end
  local instance = workload.instance(w, gpu)
  return { name = w.name, number = number, instance = instance, what = what,
    program = coroutine.create(function() w.run(instance, seen_by(gpu, w.name), params) end) }
end

--- Goes on with the host program to its next launch, which joins those in flight; nil at its end, else the launch's number.
local function go_on(gpu, tenant, result)
  local is_well, kernel, options = coroutine.resume(tenant.program, result)
  if not is_well then error(kernel, 0) end
  if coroutine.status(tenant.program) == "dead" then return nil end
  local launch = { kernel = kernel, tenant = tenant.number, priority = tenant.what.priority }
  for key, value in pairs(options) do launch[key] = value end
  return gpu:launch_async { launch }
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

--- Runs `list`, { workload = a name, a path or the thing itself, size =, seed =, priority = } each, to the end of all. The first
--- of them is tenant 1. `again`: who has ended begins again, until all have ended once; what is in flight then is the last.
--- Checks of all count as those of `self`, the workload that runs.
function tenants.run(self, gpu, list, again)
  local of_launch, first_passes = {}, #list
  local function launched(tenant, number)
    if number then of_launch[number] = tenant end
    return number
  end
  local function ended(tenant)
    self.checks = self.checks + tenant.instance.checks
    if not tenant.is_repeated then first_passes = first_passes - 1 end
    if not again or first_passes == 0 then return end
    local next_pass = begin(gpu, tenant.number, tenant.what)
    next_pass.is_repeated = true
    launched(next_pass, go_on(gpu, next_pass))
  end
  for i, what in ipairs(list) do
    local tenant = begin(gpu, i, what)
    if not launched(tenant, go_on(gpu, tenant)) then ended(tenant) end
  end
  while next(of_launch) do
    local results, fault = gpu:wait(sorted_keys(of_launch))
    if fault then error(fault.message, 0) end
    for _, number in ipairs(sorted_keys(results)) do
      local tenant = of_launch[number]
      of_launch[number] = nil
      local goes_on = not again or first_passes > 0
      if goes_on and not launched(tenant, go_on(gpu, tenant, results[number])) then ended(tenant) end
    end
  end
end

return tenants
