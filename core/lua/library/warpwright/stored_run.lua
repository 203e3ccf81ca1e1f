-- The folder of a run that has ended, or was stopped: what it counted, and what it was made of.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local json = require "warpwright.json"
local names = require "warpwright.names"
local output = require "warpwright.output"
local result = require "warpwright.result"
local sampled_result = require "warpwright.sampled_result"

local stored_run = {}

local MOST_CONFIG_BYTES <const> = 1 << 28

--- The last words of the names of ratios.
local function ratio_words()
  local words = {}
  for _, class in ipairs(core.classes()) do
    for _, row in ipairs(core.class_rows(class.name)) do
      if row.row == "formula" then words[row.name] = true end
    end
  end
  return words
end

--- visit(name, value, half-width of its interval or nil) for all of a stats.json, in order. False where it is damaged.
local function visit_json(text, visit)
  local ok, all = pcall(json.decode, text)
  local stats, estimated = ok and type(all) == "table" and all.stats, ok and type(all) == "table" and all.estimated
  if type(stats) ~= "table" or estimated and type(estimated) ~= "table" then return false end
  local is_ratio = ratio_words()
  for name in (text:match '\n  "stats": {(.-)\n  }' or ""):gmatch '\n    "([^"]*)": ' do
    local value = stats[name]
    if value ~= nil and type(value) ~= "number" then return false end
    if value and is_ratio[name:match "[^.]*$"] then value = value + 0.0 end -- one of 1 is written like a counter of 1
    if value then visit(name, value, estimated and estimated[name]) end
  end
  return true
end

local function no_statistics(path, command, expected)
  if core.is_file(path .. "/provenance.txt") then
    core.user_error(("%s: %s: expected the statistics of a run, got a run with --stats none; run it with --stats all or packed"):format(command, path))
  end
  names.expected(command, expected, path)
end

--- The names of its statistics in order, their values by name, ratios as floats, and the half-widths of the intervals of those that
-- are estimated. `command` and what it expects: for messages.
function stored_run.read_stats(path, command, expected)
  local list, by_name, half_widths = {}, {}, {}
  local function add(name, value, half_width)
    if value ~= value then return end -- stats.json has no value of it
    list[#list + 1] = name
    by_name[name], half_widths[name] = value, half_width
  end
  local file, is_good = path .. "/stats.zst"
  if core.is_file(file) then
    is_good = output.visit_packed_stats(file, function(name, value, _, _, doc) add(name, value, (sampled_result.width_in(doc))) end)
  else
    file = path .. "/stats.json"
    is_good = visit_json(inputs.read_file(file) or no_statistics(path, command, expected or "the folder of a run"), add)
  end
  if not is_good then core.user_error(("%s: expected statistics, got a damaged file"):format(file)) end
  return list, by_name, half_widths
end

local of_launch <const> = { "start_cycle", "cycles", "ctas", "warp_instructions", "thread_instructions" }

local function is_launch(launch)
  if type(launch) ~= "table" or type(launch.kernel) ~= "string" then return false end
  for _, name in ipairs(of_launch) do
    if type(launch[name]) ~= "number" then return false end
  end
  return true
end

--- Those of a stats.json.
local function launches_of_json(path)
  local ok, all = pcall(json.decode, inputs.read_file(path) or "{}")
  local launches = ok and type(all) == "table" and (all.launches or {})
  local is_good = type(launches) == "table"
  for _, launch in ipairs(is_good and launches or {}) do is_good = is_good and is_launch(launch) end
  if not is_good then core.user_error(("%s: expected statistics, got a damaged file"):format(path)) end
  for _, launch in ipairs(launches) do launch.kernel = result.kernel_of(launch) end
  return launches
end

--- Its launches, { kernel =, start_cycle =, cycles =, ctas =, ctas_per_sm =, limited_by =, warp_instructions =, thread_instructions = } each.
function stored_run.read_launches(path)
  if not core.is_file(path .. "/stats.zst") then return launches_of_json(path .. "/stats.json") end
  local launches = {}
  output.visit_packed_stats(path .. "/stats.zst", function(name, value, _, _, doc)
    local number, field = name:match "^launch%[(%d+)%]%.([%w_]+)$"
    if not number then return end
    local i = math.tointeger(tonumber(number)) + 1
    launches[i] = launches[i] or { kernel = select(2, sampled_result.width_in(doc)):match "^(.*): " }
    launches[i][field] = value
    if field == "ctas_per_sm" then launches[i].limited_by = doc:match ", limited by (.*)$" end
  end)
  return launches
end

--- The text of a config.lua.zst; nil when it is damaged or not there.
function stored_run.unpacked_config(path)
  local packed = inputs.read_file(path)
  return packed and core.unpacked(packed, MOST_CONFIG_BYTES)
end

--- The machine as Lua text, or nil.
function stored_run.read_config(path)
  return stored_run.unpacked_config(path .. "/config.lua.zst") or inputs.read_file(path .. "/config.lua")
end

--- All of provenance.txt by name, those of files left out.
function stored_run.read_provenance(path)
  local values = {}
  for name, value in (inputs.read_file(path .. "/provenance.txt") or ""):gmatch "([%w ]-)  +([^\n]*)\n" do
    if not name:find " file$" then values[name] = value end
  end
  return values
end

--- " from cycle 20000 on", of a run's "profile" or "histograms" that begin at a checkpoint; or "".
function stored_run.beginning_of(path, name)
  local cycle = stored_run.read_provenance(path)[name .. " from"]
  return cycle and (" from cycle %s on"):format(cycle) or ""
end

--- What provenance.txt says of what the run was made of.
local of_inputs <const> = { ["machine"] = true, ["workload"] = true, ["size"] = true, ["program"] = true, ["policy"] = true, ["warpwright"] = true,
  ["PTX digest"] = true, ["resumed from"] = true, ["fast forward"] = true, ["sampled"] = true }

function stored_run.read_inputs(path)
  local values, text = {}, inputs.read_file(path .. "/provenance.txt") or ""
  for name, value in text:gmatch "([%w ]-)  +([^\n]*)\n" do
    if of_inputs[name] then values[name] = value end
  end
  for digest, ptx in text:gmatch "PTX file +(%x+) ([^\n]*)\n" do
    if digest ~= values["PTX digest"] then values["file " .. ptx:match "[^/]*$"] = digest end
  end
  for kind, digest, name in text:gmatch "(%a+) file +(%x+) [^\n]-, ([^\n]*)\n" do
    if kind ~= "PTX" then values["file " .. name] = digest end
  end
  return values
end

--- Rows of its intervals.csv, { from =, to =, launch = or nil, [column] = number or nil }; nil when it has none, or what it has is
-- damaged.
function stored_run.read_intervals(path)
  local text = inputs.read_file(path .. "/intervals.csv")
  if not text or text:sub(-1) ~= "\n" then return nil end
  local lines, columns, rows = text:gmatch "[^\n]+", {}, {}
  for name in ((lines() or "") .. ","):gmatch "([^,]*)," do columns[#columns + 1] = name end
  for line in lines do
    local row, i = {}, 0
    for cell in (line .. ","):gmatch "([^,]*)," do
      i = i + 1
      if columns[i] then row[columns[i]] = math.tointeger(tonumber(cell)) or tonumber(cell) end
    end
    if i ~= #columns or not row.from or not row.to then return nil end
    rows[#rows + 1] = row
  end
  return rows
end

return stored_run
