-- The energy of workloads under policies, by part, and how much of a comparison hangs on each
-- number of the technology. `help` below says how it is called.
local ww = require "warpwright"
local energy = require "warpwright.energy"
local command_line = require "scripts.lib.command_line"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: scripts/energy [options] CONFIG WORKLOAD[,WORKLOAD...]

Runs workloads under policies and prints the energy of each part in percent of the first policy's total, and the total in
joules. Then, for each number of the technology, what becomes of the mean ratio of the last policy's energy to the first's
when the number is half of what it is, and half as much again.

Classes of the machine that have no energies are named; what they do is left out.

  --policies A,B,...   default lrr,gto
  --size SIZE          of the workloads, default small
  --technology NAME    configs/energy/NAME.lua or a path, default fermi_40nm
  --set PATH=VALUE     changes the machine; may be repeated
]]

local function usage_error(...) command_line.error("energy", ...) end

local function print_parts(workload, policies, energies)
  local base = energies[1]
  print(("\n%s: percent of %s's %.3g J"):format(workload, policies[1], base.total))
  local head = ("%-30s"):format ""
  for _, policy in ipairs(policies) do head = head .. (" %12s"):format(policy) end
  print(head)
  for _, part in ipairs(base.order) do
    local line, most = ("%-30s"):format(part), 0
    for _, e in ipairs(energies) do
      local percent = 100 * (e.parts[part] or 0) / base.total
      line, most = line .. (" %12.2f"):format(percent), math.max(most, percent)
    end
    if most > 0 then print(line) end
  end
  local line = ("%-30s"):format "total"
  for _, e in ipairs(energies) do line = line .. (" %12.2f"):format(100 * e.total / base.total) end
  print(line)
end

--- The geometric mean over workloads of the last policy's energy to the first's.
local function mean_ratio(all, factors)
  local product = 1.0
  for _, energies in ipairs(all) do
    product = product * energy.scaled(energies[#energies], factors) / energy.scaled(energies[1], factors)
  end
  return product ^ (1 / #all)
end

local function print_sensitivity(policies, all)
  print(("\nenergy of %s to that of %s, mean: %.3f; with a number of the technology changed:"):format(policies[#policies], policies[1],
    mean_ratio(all, {})))
  print(("%-20s %8s %8s"):format("", "x 0.5", "x 1.5"))
  for _, number in ipairs(energy.numbers) do
    local half, more = mean_ratio(all, { [number] = 0.5 }), mean_ratio(all, { [number] = 1.5 })
    print(("%-20s %8.3f %8.3f"):format(number, half, more))
  end
end

if command_line.helped(arg, help) then return end
local options = { policies = { "lrr", "gto" }, size = "small", technology = "fermi_40nm", set = {} }
local words = command_line.read("energy", arg, options, {
  policies = command_line.policies, size = command_line.text, technology = command_line.text, set = command_line.list,
})
if #words ~= 2 then command_line.expected_arguments("energy", "CONFIG and WORKLOAD[,WORKLOAD...]", #words) end
if #options.policies < 2 then usage_error("--policies: expected two policies or more, got %d", #options.policies) end

options.config, options.workloads = words[1], command_line.words(words[2])
preparation.check(options)
preparation.find("technology", options.technology)

local all = {}
for i, workload in ipairs(options.workloads) do
  all[i] = {}
  for j, policy in ipairs(options.policies) do
    local r = ww.run {
      config = words[1], workload = workload, size = options.size, policy = policy, set = options.set, out = false,
      energy = options.technology,
    }
    all[i][j] = r.energy
  end
  local left_out = i == 1 and energy.left_out(all[1][1])
  if left_out then print(("without the energy of: %s"):format(left_out)) end
  print_parts(workload, options.policies, all[i])
end
print_sensitivity(options.policies, all)
