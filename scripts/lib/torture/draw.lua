-- Draws machines: lists of settings, the same ones for the same seed and number.
local core = require "warpwright.core"
local machine = require "scripts.lib.torture.machine"
local rows = require "scripts.lib.torture.rows"
local work = require "scripts.lib.torture.work"
local ww = require "warpwright"

local draw = {}

--- A generator of the same numbers for the same words.
function draw.random(...)
  local words = { ... }
  for i, word in ipairs(words) do words[i] = tostring(word) end
  return ww.rng(tonumber(core.digest(table.concat(words, " ")):sub(1, 15), 16))
end

-- Texts, of which rows say nothing ----------------------------------------------------------------

local function numbers_text(rng, count, highest)
  local list = {}
  for i = 1, count do list[i] = rng:int(0, highest) end
  return table.concat(list, ",")
end

--- A mask of so many of the address bits from `low` to `high`.
local function mask(rng, count, low, high)
  local bits = 0
  for _ = 1, count do bits = bits | 1 << rng:int(low, high) end
  return bits
end

local function mask_text(...) return ("0x%x"):format(mask(...)) end

--- Sets of some of the first ways.
local function way_masks(rng)
  local list = {}
  for i = 1, rng:int(1, 6) do list[i] = ("0x%x"):format(rng:int(1, rows.pick(rng, { 1, 3, 15 }))) end
  return table.concat(list, ",")
end

--- Each has a lowest bit of its own, so none is the XOR of others.
local function index_masks(rng)
  local list = {}
  for i = 1, rng:int(1, 7) do list[i] = ("0x%x"):format(mask(rng, 2, 6 + i, 20) | 1 << (6 + i)) end
  return table.concat(list, ",")
end

--- By "Class.parameter".
local text = {
  ["L1.index_masks"] = index_masks,
  ["L2.index_masks"] = index_masks,
  ["AddressMap.row_mask"] = function(rng) return mask_text(rng, rng:int(1, 12), 12, 27) end,
  ["AddressMap.bank_mask"] = function(rng) return mask_text(rng, rng:int(1, 4), 7, 18) end,
  ["AddressMap.column_mask"] = function(rng) return mask_text(rng, rng:int(1, 8), 5, 16) end,
  ["AddressMap.slice_mask"] = function(rng) return mask_text(rng, rng:int(1, 3), 7, 16) end,
  ["AddressMap.channel_masks"] = index_masks,
  ["AddressMap.bank_masks"] = index_masks,
  ["AddressMap.slice_masks"] = index_masks,
  ["MemoryController.class_queues"] = function(rng) return numbers_text(rng, rng:int(1, 16), 7) end,
}
for _, class in ipairs { "Crossbar", "Mux", "Router" } do
  text[class .. ".class_priority"] = function(rng) return numbers_text(rng, rng:int(1, 8), 3) end
end
for _, class in ipairs { "L1", "L2" } do
  text[class .. ".insertion_position"] = function(rng) return numbers_text(rng, rng:int(1, 16), rows.pick(rng, { 1, 4, 255 })) end
  text[class .. ".way_masks"] = way_masks
  text[class .. ".retention_priority"] = function(rng) return numbers_text(rng, rng:int(1, 16), 3) end
end

-- Parameters that no machine here varies ----------------------------------------------------------

--- By "Class.parameter" or "Class.*": why.
draw.left_out = {
  ["L1Trace.*"] = "writes files, as a resumed run does again",
  ["VictimTags.cache"] = "a name: that of the L1 beside it",
  ["VictimBuffer.holds"] = "less than it wants to hold is an error of its class",
  ["LinkCompressor.holds"] = "less than it wants to hold is an error of its class",
  ["TrafficShaper.holds"] = "holds none",
  ["QueueDelays.*"] = "has none",
  ["BankCounters.bank"] = "a number: that of the bank, which dram_banks fixes",
  ["Router.dateline"] = "without it, a ring may hang",
  ["AddressMap.page_size"] = "needs wires of a quantum to the networks, which not all machines have",
}

--- Parameters that the parts and wires of a machine fix; those settings vary.
draw.by_parts = {
  ["Dispatcher.sms"] = "sms", ["AddressMap.channels"] = "channels", ["AddressMap.slices_per_channel"] = "slices",
  ["Crossbar.up"] = "sms, l1", ["Crossbar.down"] = "channels, slices", ["Mux.up"] = "sms, l1",
  ["MemoryController.ports"] = "slices", ["TLB.page"] = "page", ["PageWalker.page"] = "page",
  ["Router.up"] = "sms, l1", ["Router.down"] = "channels, slices", ["Router.x"] = "columns", ["Router.y"] = "rows",
  ["Router.columns"] = "columns", ["Router.rows"] = "rows", ["Router.topology"] = "network",
}

function draw.is_left_out(class, name) return draw.left_out[class .. ".*"] or draw.left_out[class .. "." .. name] end

--- The value of a row, or nil.
local function value_of(rng, class, row, stingy)
  local name = class .. "." .. row.name
  if draw.by_parts[name] or draw.is_left_out(class, row.name) then return nil end
  if text[name] then return text[name](rng) end
  if row.unit == "bytes" and (row.name == "size" or row.name == "code_bytes") then return 128 << rng:int(0, 9) end
  if class == "TrafficSource" and row.unit == "requests/cycle" then return rows.pick(rng, { 0.05, 0.3, 1 }) end
  if name == "MemoryController.tREFI" then return rows.pick(rng, { 0, 1, rng:int(1, 1000), rng:int(1, 8000) }) end
  if row.name == "line" then return rows.pick(rng, { 32, 64, 128 }) end
  if row.name == "sectors" then return rows.pick(rng, { 1, 2, 4 }) end
  if name == "LSU.read_only_segment" then return rows.pick(rng, { 0, 32, 32, 64, 128 }) end
  return rows.draw(rng, row, stingy)
end

--- Can this parameter be drawn at all?
function draw.is_drawn(class, row) return value_of(ww.rng(1), class, row) ~= nil end

-- Parts -------------------------------------------------------------------------------------------

local function draw_translation(rng, add)
  if not rows.chance(rng, 20) then return end
  add("tlb", rows.pick(rng, { "front", "behind" }))
  add("page", rows.pick(rng, { 4096, 4096, 65536, 2097152 }))
  if rows.chance(rng, 50) then add("second_tlb", true) end
end

local function draw_parts(rng, settings, engine)
  local function add(name, value) settings[#settings + 1] = { name, value } end
  local function maybe(percent, name, list)
    if rows.chance(rng, percent) then add(name, rows.pick(rng, list)) end
  end
  maybe(85, "sms", { 1, 2, 2, 3, 3, 4, 5, 6 })
  maybe(60, "channels", { 1, 2, 2, 3, 4, 5 })
  maybe(40, "slices", { 2, 2, 3, 4 })
  maybe(60, "l1", engine and { "own", "two" } or { "own", "none", "shared", "two", "shared l15" })
  maybe(30, "sms_of_a_group", { 1, 2, 3, 4 })
  maybe(60, "constant", { "own", "own", "shared", "bare" })
  maybe(60, "texture", { "own", "own", "shared", "bare" })
  maybe(40, "fetch", { true })
  maybe(60, "sm_mux", { true })
  if engine or rows.chance(rng, 10) then add("dma", rows.pick(rng, { "l1", "l1", "l1", "net" })) end
  maybe(15, "victims", { true })
  draw_translation(rng, add)
  maybe(10, "shaper", { true })
  maybe(10, "squeeze", { true })
  maybe(70, "network", { "direct", "crossbar", "series", "mesh", "ring", "torus" })
  maybe(30, "ports_of_a_crossbar", { 1, 2, 3, 4 })
  maybe(50, "columns", { 1, 2, 3, 4, 5 })
  maybe(40, "rows", { 1, 2, 3 })
  maybe(15, "memory", { "sink" })
  maybe(70, "clock.core", { 100, 350, 500, 650, 701, 1300, 1400 })
  maybe(60, "clock.icnt", { 350, 650, 700, 1400, 2100 })
  maybe(40, "clock.l2", { 350, 700, 800, 1400 })
  maybe(80, "clock.dram", { 333, 700, 800, 924, 1848 })
  if rows.chance(rng, 80) then add("quantum", rows.chance(rng, 50) and rng:int(1, 8) or rng:int(1, 40)) end
end

--- A machine without SMs.
local function draw_sources(rng, settings)
  local function add(name, value) settings[#settings + 1] = { name, value } end
  add("traffic", rng:int(100, 5000))
  add("sources", rng:int(1, 8))
  draw_translation(rng, add)
  if rows.chance(rng, 50) then add("source_l1", true) end
  if rows.chance(rng, 15) then add("shaper", true) end
  if rows.chance(rng, 15) then add("squeeze", true) end
end

local wire_rows = {
  { name = "latency", kind = "whole", unit = "cycles", min = 0, max = 100, default = 8 },
  { name = "depth", kind = "whole", unit = "messages", min = 1, max = 256, default = 8 },
  { name = "width", kind = "whole", unit = "messages", min = 1, max = 16, default = 1 },
}

local function draw_wires(rng, settings, plan, percent, stingy)
  for _, kind in ipairs(machine.wire_kinds(plan)) do
    for _, back in ipairs { "", "back." } do
      for _, row in ipairs(wire_rows) do
        if rows.chance(rng, percent) then
          settings[#settings + 1] = { ("wire.%s.%s%s"):format(kind, back, row.name), rows.draw(rng, row, stingy) }
        end
      end
    end
  end
end

--- Policies that say where in the order of use lines enter: their caches are lru.
local bends_lru = { eaf = true, wip = true, medic = true }

local function policy_bends_lru(settings)
  for _, setting in ipairs(settings) do
    for name in (setting[1] == "policy" and setting[2] or ""):gmatch "[^+]+" do
      if bends_lru[name] then return true end
    end
  end
  return false
end

--- Parameters of all objects of a kind, and then of some of them alone.
local function draw_parameters(rng, settings, plan, percent, stingy)
  local seen, lru = {}, policy_bends_lru(settings)
  for _, object in machine.each(plan) do
    local pattern = machine.pattern(object.path)
    local function draw_rows(path, percent_here)
      for _, row in ipairs(rows.of_class(object.class)) do
        if rows.chance(rng, percent_here) and not (lru and row.name == "replacement") then
          local value = value_of(rng, object.class, row, stingy)
          if value ~= nil then settings[#settings + 1] = { ("%s.%s"):format(path, row.name), value } end
        end
      end
    end
    if not seen[pattern] then draw_rows(pattern, percent) end
    seen[pattern] = true
    if pattern ~= object.path and rows.chance(rng, 10) then draw_rows(object.path, percent // 4 + 1) end
  end
end

--- The settings of machine `number` of a seed.
function draw.settings(seed, number)
  local rng, settings = draw.random("torture", seed, number), {}
  local percent = rows.pick(rng, { 2, 10, 30, 30, 70 }) -- of parameters that are not as the rows have them
  local stingy = rows.pick(rng, { 10, 25, 25, 60 }) -- of these, that are the least that is legal
  if rows.chance(rng, 6) then
    draw_sources(rng, settings)
    draw_parts(rng, settings, false)
  else
    draw_parts(rng, settings, work.draw(rng, settings))
    if rows.chance(rng, 55) then work.draw_policy(rng, settings, math.max(percent, 30)) end
  end
  local plan = machine.plan(settings, work.of(settings).needs)
  draw_wires(rng, settings, plan, percent, stingy)
  draw_parameters(rng, settings, plan, percent, stingy)
  return settings
end

return draw
