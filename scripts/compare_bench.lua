-- What changed between two files of scripts/bench.lua:
--   warpwright scripts/compare_bench.lua OLD.json NEW.json [percent]
-- Cycles and instructions are compared exactly; speed and memory count as changed from `percent` on, 5 by default.
local json = require "scripts.lib.json"

local function read(path)
  local file, problem = io.open(path, "rb")
  if not file then error(problem, 0) end
  local text = file:read "a"
  file:close()
  local ok, list = pcall(json.decode, text)
  if not ok or type(list) ~= "table" then error(path .. ": this is not a file of scripts/bench.lua", 0) end
  local by_name = {}
  for _, item in ipairs(list) do by_name[item.name] = item end
  return list, by_name
end

local function percent_of_change(old, new) return 100 * (new / old - 1) end

local exact = { "cycles", "warp_instructions", "thread_instructions" }
local approximate = { "cycles_per_second", "peak_bytes" }

--- The lines that say what changed of one item.
local function changes_of(old, new, threshold)
  local lines = {}
  local function add(name)
    lines[#lines + 1] = ("  %-20s %14.0f -> %14.0f  %+7.1f %%"):format(name, old[name], new[name],
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
  return lines
end

local threshold = tonumber(arg[3] or 5)
if #arg < 2 or #arg > 3 or not threshold then
  error("usage: warpwright scripts/compare_bench.lua OLD.json NEW.json [percent]", 0)
end
local old_list, old_by_name = read(arg[1])
local new_list, new_by_name = read(arg[2])

local unchanged, log_ratio, compared = 0, 0, 0
for _, new in ipairs(new_list) do
  local old = old_by_name[new.name]
  if not old then
    print(new.name .. ": new")
  else
    local lines = changes_of(old, new, threshold)
    log_ratio, compared = log_ratio + math.log(new.cycles_per_second / old.cycles_per_second), compared + 1
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
if compared > 0 then
  print(("cycles/s over all items: %.3f times (geometric mean)"):format(math.exp(log_ratio / compared)))
end
