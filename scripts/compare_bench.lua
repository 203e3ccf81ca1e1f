-- What changed between two files of scripts/bench.lua; `help` below says how it is called.
local command_line = require "scripts.lib.command_line"
local core = require "warpwright.core"
local json = require "warpwright.json"

local help = [[
usage: warpwright scripts/compare_bench.lua OLD.json NEW.json [PERCENT]

Prints what changed between two files of scripts/bench.lua. Cycles and instructions are compared exactly; speed and memory
count as changed from PERCENT on, 5 by default, and the host's instructions per cycle, which no other load on the machine
disturbs, from 0.1 % on.
]]

local exact = { "cycles", "warp_instructions", "thread_instructions" }
local approximate = { "cycles_per_second", "peak_bytes" }
local steady, steady_threshold = "host_instructions_per_cycle", 0.1

local function are_numbers(item, list)
  for _, name in ipairs(list) do
    if type(item[name]) ~= "number" then return false end
  end
  return true
end

--- Whether it is what scripts/bench.lua writes: a list of items with names and figures.
local function is_bench(list)
  if type(list) ~= "table" or not list[1] then return false end
  for _, item in ipairs(list) do
    if type(item) ~= "table" or type(item.name) ~= "string" then return false end
    if not are_numbers(item, exact) or not are_numbers(item, approximate) then return false end
    if item[steady] and type(item[steady]) ~= "number" then return false end
  end
  return true
end

local function read(path)
  local file, problem = io.open(path, "rb")
  if not file then error(problem, 0) end
  local text = file:read "a"
  file:close()
  local ok, list = pcall(json.decode, text)
  if not ok or not is_bench(list) then core.user_error(path .. ": expected a file of scripts/bench.lua, got another") end
  local by_name = {}
  for _, item in ipairs(list) do by_name[item.name] = item end
  return list, by_name
end

local function percent_of_change(old, new) return 100 * (new / old - 1) end

--- The lines that say what changed of one item.
local function changes_of(old, new, threshold)
  local lines = {}
  local function add(name)
    lines[#lines + 1] = ("  %-27s %14.0f -> %14.0f  %+7.1f %%"):format(name, old[name], new[name],
      percent_of_change(old[name], new[name]))
  end
  if old.size ~= new.size or old.config ~= new.config then
    lines[1] = ("  not the same run: %s %s -> %s %s"):format(old.config, old.size or "", new.config, new.size or "")
  end
  for _, name in ipairs(exact) do
    if old[name] ~= new[name] then add(name) end
  end
  for _, name in ipairs(approximate) do
    if math.abs(percent_of_change(old[name], new[name])) >= threshold then add(name) end
  end
  if old[steady] and new[steady] and math.abs(percent_of_change(old[steady], new[steady])) >= steady_threshold then
    add(steady)
  end
  return lines
end

if command_line.helped(arg, help) then return end
local threshold = tonumber(arg[3] or 5)
if #arg < 2 or #arg > 3 or not threshold then
  error("usage: warpwright scripts/compare_bench.lua OLD.json NEW.json [PERCENT]", 0)
end
local old_list, old_by_name = read(arg[1])
local new_list, new_by_name = read(arg[2])

-- The geometric mean of new / old of a figure, over the items that have it in both files.
local Mean = {}
Mean.__index = Mean

local function mean_of(name) return setmetatable({ name = name, log_sum = 0, count = 0 }, Mean) end

function Mean:add(old, new)
  if not old[self.name] or not new[self.name] then return end
  self.log_sum, self.count = self.log_sum + math.log(new[self.name] / old[self.name]), self.count + 1
end

function Mean:print(what)
  if self.count == 0 then return end
  print(("%s over %d items: %.3f times (geometric mean)"):format(what, self.count, math.exp(self.log_sum / self.count)))
end

local unchanged, compared, speed, cost = 0, 0, mean_of "cycles_per_second", mean_of(steady)
for _, new in ipairs(new_list) do
  local old = old_by_name[new.name]
  if not old then
    print(new.name .. ": new")
  else
    local lines = changes_of(old, new, threshold)
    compared = compared + 1
    speed:add(old, new)
    cost:add(old, new)
    if lines[1] then
      print(new.name .. "\n" .. table.concat(lines, "\n"))
    else
      unchanged = unchanged + 1
    end
  end
end
for _, old in ipairs(old_list) do
  if not new_by_name[old.name] then print(old.name .. ": gone") end
end
print(("%d of %d items unchanged within %g %%"):format(unchanged, compared, threshold))
speed:print "cycles/s"
cost:print "host instructions per cycle"
