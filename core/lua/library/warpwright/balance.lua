-- How evenly requests are spread over memory controllers, their banks and cache slices: warpwright balance, and the report's section.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local stored_run = require "warpwright.stored_run"
local text_table = require "warpwright.sweep.table"

local balance = {}

--- What tells such objects by their statistics, how many requests each had, and the shares that stand beside them.
local kinds <const> = {
  { has = { "reads", "writes", "row_hit_rate", "bandwidth_utilisation" }, requests = { "reads", "writes" },
    columns = { "requests", "row hits", "bus busy" },
    shares = function(of) return of "row_hit_rate", of "bandwidth_utilisation" end },
  { has = { "requests", "row_hit_rate", "row_conflicts", "activates" }, requests = { "requests" },
    columns = { "requests", "row hits", "row conflicts" },
    shares = function(of) return of "row_hit_rate", of "requests" > 0 and of "row_conflicts" / of "requests" or nil end },
  { has = { "accesses", "hits", "misses", "miss_rate" }, requests = { "accesses" }, columns = { "accesses", "hits" },
    shares = function(of) return of "accesses" > 0 and of "hits" / of "accesses" or nil end },
}

--- Of an object, the kind and its row { path, requests, shares }; nil: it is of none.
local function look_at(values, path)
  local function of(name) return values[path .. "." .. name] end
  for _, kind in ipairs(kinds) do
    local is_it, requests = true, 0
    for _, name in ipairs(kind.has) do is_it = is_it and of(name) ~= nil end
    if is_it then
      for _, name in ipairs(kind.requests) do requests = requests + of(name) end
      return kind, { path = path, requests = requests, shares = table.pack(kind.shares(of)) }
    end
  end
end

local function is_below_sm(values, path)
  for parent in path:gmatch "()%." do
    if values[path:sub(1, parent - 1) .. ".slots_issued"] then return true end
  end
  return false
end

--- The statistics of a run as groups of objects that are alike but for their indices, those of SMs left out: { name = pattern, rows = { {
-- path =, requests =, share = of all, shares = } ... }, columns =, requests =, largest = row, over_mean = } each. Those that had no
-- request are none.
function balance.of(list, values)
  local groups, by_name, seen = {}, {}, {}
  for _, name in ipairs(list) do
    local path = name:match "^(.*)%.[^.]*$"
    if path and not seen[path] and path:find "%[%d+%]" and not is_below_sm(values, path) then
      local kind, row = look_at(values, path)
      local pattern = path:gsub("%[%d+%]", "[*]")
      if kind and not by_name[pattern] then
        by_name[pattern] = { name = pattern, rows = {}, columns = kind.columns, requests = 0 }
        groups[#groups + 1] = by_name[pattern]
      end
      if kind then
        local group = by_name[pattern]
        group.rows[#group.rows + 1], group.requests = row, group.requests + row.requests
        if not group.largest or row.requests > group.largest.requests then group.largest = row end
      end
    end
    if path then seen[path] = true end
  end
  local busy = {}
  for _, group in ipairs(groups) do
    if group.requests > 0 then
      busy[#busy + 1], group.over_mean = group, group.largest.requests * #group.rows / group.requests
      for _, row in ipairs(group.rows) do row.share = row.requests / group.requests end
    end
  end
  return busy
end

--- "mc[*]: 6 objects; the largest, mc[2], has 1.31 times the mean"
function balance.title(group)
  return ("%s: %d objects; the largest, %s, has %.2f times the mean"):format(group.name, #group.rows, group.largest.path, group.over_mean)
end

-- The command ---------------------------------------------------------------------------------------------------------

local BAR <const> = 40

local function percent(share) return share and ("%.1f%%"):format(100 * share) or "" end

local function table_of(group)
  local columns, rows = { "", group.columns[1], "share", table.unpack(group.columns, 2) }, {}
  columns[#columns + 1] = "of the largest"
  for i, row in ipairs(group.rows) do
    rows[i] = { row.path, row.requests, percent(row.share) }
    for c = 2, #group.columns do rows[i][c + 2] = percent(row.shares[c - 1]) end
    rows[i][#columns] = ("#"):rep((BAR * row.requests + group.largest.requests - 1) // group.largest.requests)
  end
  return text_table.text(columns, rows)
end

function balance.main(args, first)
  local _, words = arguments.read("balance", args, first)
  local path = arguments.one("balance", words, "RUN", "the folder of a run")
  local groups, texts = balance.of(stored_run.read_stats(path, "balance")), {}
  if not groups[1] then
    core.user_error(("balance: %s: expected requests at several memory controllers or slices of a cache, got none; --stats all or packed "
      .. "has their statistics"):format(path))
  end
  for i, group in ipairs(groups) do texts[i] = balance.title(group) .. "\n" .. table_of(group) end
  io.write(table.concat(texts, "\n"))
  return 0
end

return balance
