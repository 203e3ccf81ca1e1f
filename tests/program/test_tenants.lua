-- Whose a kernel is: `tenant` of a launch, which policies and results tell; workloads side by side as tenants.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local ptx <const> = "tests/kernels/in_flight_kernel.ptx"

--- A policy that counts the CTAs of each tenant, as SMs and the dispatcher tell them.
local observer <const> = [[
local policy = require "warpwright.policy"
local p = policy "whose" { counters = { one = "CTAs of tenant 1", two = "of tenant 2", none = "of no tenant" } }
local names <const> = { [0] = "none", "one", "two" }
function p:on_cta_start(_, warps)
  local warp = 0
  while warps >> warp & 1 == 0 do warp = warp + 1 end
  self:count(names[self.sm:tenant_of(warp)])
end
return p
]]

local dispatcher_observer <const> = [[
local policy = require "warpwright.policy"
local p = policy "given" { scope = "dispatcher", counters = { one = "CTAs of tenant 1", two = "of tenant 2", none = "of no tenant" } }
local names <const> = { [0] = "none", "one", "two" }
function p:on_cta_start(_, _, _, _, _, kernel) self:count(names[select(4, self.dispatcher:kernel(kernel))]) end
return p
]]

local function launches(gpu, kernels)
  local list = {}
  for k, tenant in ipairs { 2, 1, 2, false } do
    local grid = 10 * k
    list[k] = { kernel = kernels.spin, grid = grid, block = 128, tenant = tenant or nil, args = { gpu:alloc(4 * 128 * grid), 10 } }
  end
  return list
end

local function require_counts(sim, what)
  local r = sim:result()
  harness.equal(r["sm[*].whose.one"], 20, what .. ": CTAs of tenant 1")
  harness.equal(r["sm[*].whose.two"], 40, what .. ": CTAs of tenant 2")
  harness.equal(r["sm[*].whose.none"], 40, what .. ": CTAs of no tenant")
  for _, name in ipairs { "one", "two", "none" } do
    harness.equal(r["dispatcher.given." .. name], r["sm[*].whose." .. name], what .. ": the dispatcher's, " .. name)
  end
  harness.equal(r["launch[0].tenant"], 2, what .. ": statistic")
  harness.equal(r.launches[2].tenant, 1, what .. ": of the result")
  harness.equal(r.launches[4].tenant, nil, what .. ": of a launch that names none")
end

harness.test("policies and results tell the tenant of a launch, on SMs of its own and within SMs", function()
  local whose, given = harness.write("whose.lua", observer), harness.write("given.lua", dispatcher_observer)
  for _, several in ipairs { 1, 3 } do
    for _, how in ipairs { "together", "async", "alone" } do
      local sim = ww.build("gtx480", { policy = ("gto+%s+%s"):format(whose, given), set = { ["dispatcher.kernels_per_sm"] = several } })
      local gpu = sim:gpu()
      local list = launches(gpu, (gpu:load(ptx)))
      if how == "together" then
        gpu:launch_together(list)
      elseif how == "async" then
        gpu:launch_async(list)
        gpu:wait()
      else
        for _, launch in ipairs(list) do
          local kernel = launch.kernel
          launch.kernel = nil
          gpu:launch(kernel, launch)
        end
      end
      require_counts(sim, ("%s, %d kernels in an SM"):format(how, several))
    end
  end
end)

harness.test("a tenant is a number from 1 to 31; 0 is what has none", function()
  local sim = ww.build "gtx480"
  local gpu = sim:gpu()
  local list = launches(gpu, (gpu:load(ptx)))
  for _, wrong in ipairs { 0, -1, 32, 1.5, "kmeans", false } do
    list[2].tenant = wrong
    local ok, message = pcall(gpu.launch_together, gpu, list)
    assert(not ok and message:find("kernel spin: tenant: expected a whole number from 1 to 31, or none, got", 1, true), message)
  end
end)

--- Folder and statistics of a run with these words.
local function run(name, words)
  local out, list = harness.folder() .. "/" .. name, {}
  for word in words:gmatch "%S+" do list[#list + 1] = word end
  local status, output = harness.run("run", "--out", out, table.unpack(list))
  harness.equal(status, 0, output)
  return out, harness.read(out .. "/stats.txt")
end

local function launches_of(text)
  local of, count = {}, 0
  for number, tenant in text:gmatch "launch%[(%d+)%]%.tenant +(%d+)" do
    of[tonumber(number)], count = tonumber(tenant), count + 1
  end
  return of, count
end

harness.test("workloads run side by side, and all are checked; order, threads and resumes change nothing", function()
  local how = "gtx480 tenants --policy gto --set dispatcher.sharing=evenly --size small,of=kmeans+vecadd+kmeans"
  local out, text = run("plain", how .. " --checkpoint-at 20000,60000")
  local of, count = launches_of(text)
  harness.equal(count, 5, "launches")
  harness.equal(table.concat(of, " ", 0, 2), "1 2 3", "the first launches")
  harness.contains(harness.read(out .. "/provenance.txt"), "checks")
  for _, more in ipairs { "--threads 2", "--order reversed" } do harness.same_text(select(2, run("other", how .. " " .. more)), text, more) end
  for _, cycle in ipairs { 20000, 60000 } do
    local _, resumed = run("resumed", ("--resume %s/%d.ckpt"):format(out, cycle))
    harness.same_text(resumed, text, "resumed from " .. cycle)
  end
end)

harness.test("a tenant alone has the statistics of its workload, but for whose it is", function()
  local _, alone = run("alone", "gtx480 tenants --policy gto --size small,of=bfs")
  local _, as_it_is = run("bfs", "gtx480 bfs --policy gto --size small")
  harness.same_text((alone:gsub("launch%[%d+%]%.tenant [^\n]*\n", "")), as_it_is, "statistics")
end)

harness.test("with again=1 who has ended begins again until all have ended once", function()
  local _, once = run("once", "gtx480 tenants --policy gto --size small,of=kmeans+bfs")
  local _, again = run("again", "gtx480 tenants --policy gto --size small,of=kmeans+bfs,again=1")
  local function of_tenant(text, tenant)
    local sum = 0
    for _, of in pairs((launches_of(text))) do sum = sum + (of == tenant and 1 or 0) end
    return sum
  end
  assert(of_tenant(again, 1) > of_tenant(once, 1), "kmeans did not begin again")
  harness.equal(of_tenant(again, 2), of_tenant(once, 2), "launches of bfs")
end)

harness.test("a wrong tenant is told by name", function()
  harness.refused("of: expected workloads, such as kmeans+spmv, got '+'", "run", "gtx480", "tenants", "--size", "small,of=+")
  harness.refused("tenant tenants: expected calls that concern no other tenant, got gpu:launch_async", "run", "gtx480", "tenants", "--size",
    "small,of=tenants")
  harness.refused("tenant 1: workload: no workload matches 'kmean'; did you mean kmeans?", "run", "gtx480", "tenants", "--size", "small,of=kmean+spmv")
end)

harness.finish()
