-- `warpwright balance`: requests of controllers and slices are those of the statistics, and one that takes them all is seen.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()

local function run(name, options)
  local all = { config = "gtx480", workload = "vecadd", size = "small", out = home .. "/" .. name }
  for key, value in pairs(options) do all[key] = value end
  return ww.run(all)
end

local function balance(name)
  local status, output = harness.run("balance", home .. "/" .. name)
  harness.equal(status, 0, output)
  return output
end

harness.test("each controller and slice has its requests and shares, those of an SM's own caches none", function()
  local r = run("even", { stats = "packed" })
  local text = balance "even"
  local function check(path, requests, all, ...)
    local cells = { text:match(("%s +(%%d+) +([%%d.]+%%%%) +([%%d.]+%%%%)[ #]+([%%d.]*%%%%?)"):format((path:gsub("%p", "%%%0")))) }
    harness.equal(table.concat(cells, " "), table.concat({ ("%d %.1f%%"):format(requests, 100 * requests / all), ... }, " "), path)
  end
  for i = 0, 5 do
    local mc, l2 = ("mc[%d]"):format(i), ("l2[%d]"):format(i)
    check(mc, r[mc .. ".reads"] + r[mc .. ".writes"], r["mc[*].reads"] + r["mc[*].writes"], ("%.1f%%"):format(100 * r[mc .. ".row_hit_rate"]),
      ("%.1f%%"):format(100 * r[mc .. ".bandwidth_utilisation"]))
    check(l2, r[l2 .. ".accesses"], r["l2[*].accesses"], ("%.1f%%"):format(100 * r[l2 .. ".hits"] / r[l2 .. ".accesses"]), "")
  end
  assert(not text:find "sm%[", text)
end)

harness.test("where all addresses lie in one channel, it has six times the mean, in the report as well", function()
  run("camping", { set = { ["map.interleave"] = "1GiB" } })
  local text = balance "camping"
  local path = text:match "mc%[%*%]: 6 objects; the largest, (mc%[%d%]), has 6.00 times the mean"
  assert(path, text)
  assert(text:find(path:gsub("%p", "%%%0") .. " +%d+ +100.0%%"), text)
  harness.run("report", home .. "/camping")
  harness.contains(harness.read(home .. "/camping/report.html"), ("mc[*]: 6 objects; the largest, %s, has 6.00 times the mean"):format(path))
end)

harness.test("with their counters, the banks of the controllers are compared", function()
  local r = run("banks", { policy = "dram_banks", stats = "packed" })
  local text = balance "banks"
  local largest, bank = -1, nil
  for i = 0, 5 do
    for j = 0, 15 do
      local path = ("mc[%d].bank[%d]"):format(i, j)
      if r[path .. ".requests"] > largest then largest, bank = r[path .. ".requests"], path end
    end
  end
  harness.contains(text, ("mc[*].bank[*]: 96 objects; the largest, %s, has %.2f times the mean"):format(bank,
    largest * 96 / r["mc[*].bank[*].requests"]))
  assert(text:find("requests +share +row hits +row conflicts"), text)
end)

harness.test("what has no such statistics is refused", function()
  core.make_folder(home .. "/nothing")
  harness.refused("balance: expected the folder of a run, got nothing; see warpwright balance --help", "balance")
  harness.refused("balance: expected the folder of a run, got '", "balance", home .. "/nothing")
  run("summary", { stats = "summary" })
  harness.refused("expected requests at several memory controllers or slices of a cache, got none", "balance", home .. "/summary")
end)

harness.finish()
