-- What a run of a sweep had counted when its warm-up ended: kept in the run's folder until the run has ended, however often it was stopped
-- in between, since nobody can count it anew.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local literal = require "warpwright.literal"
local output = require "warpwright.output"
local result = require "warpwright.result"

local warm_result = {}

local MOST_BYTES <const> = 1 << 30

local function path_in(folder) return folder .. "/warm_up.zst" end

--- What r:since(earlier) asks of the earlier one, beside its statistics.
local fields <const> = { "machine", "policy", "cycles", "warp_instructions", "thread_instructions", "seconds", "simulated", "policy_from" }

function warm_result.save(folder, r)
  local kept = { launches = #r.launches, clocks = {}, rows = output.packed_rows(r.rows) }
  for _, name in ipairs(fields) do kept[name] = rawget(r, name) end
  for i, clock in ipairs(rawget(r, "clocks") or {}) do
    kept.clocks[i] = { name = clock.name, cycles = clock.cycles, changes = clock.changes, shares = clock.shares }
  end
  inputs.write_file(path_in(folder), core.pack("return " .. literal(kept)))
end

--- The result again, or nil: there is none, or it is damaged.
function warm_result.read(folder)
  local packed = inputs.read_file(path_in(folder))
  local text = packed and core.unpacked(packed, MOST_BYTES)
  local chunk = text and load(text, "=warm_up", "t", { math = math })
  local ok, kept = pcall(chunk or error)
  if not ok or type(kept) ~= "table" or type(kept.rows) ~= "string" then return nil end
  local rows, launches = core.stats(), {}
  if not output.visit_packed_rows(kept.rows, function(name, value, whole, unit, doc) rows:add(name, value, unit, doc, whole) end) then return nil end
  for i = 1, kept.launches do launches[i] = {} end
  kept.launches, kept.sampled, kept.origin = launches, false, false
  return result.from_rows(kept, rows)
end

function warm_result.remove(folder) os.remove(path_in(folder)) end

return warm_result
