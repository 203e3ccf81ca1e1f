-- Replays what policy trace_l1 has recorded of L1 data caches: as it was measured, under LRU, and
-- under Belady's optimal replacement. For scripts/belady, whose help says what the kinds mean, and
-- scripts/reproduce.
local core = require "warpwright.core"

local parts = require "scripts.lib.parts"

local replay = {}

replay.kinds = { "measured", "timed", "lru", "optimal" }

--- The cache to replay on: the trace's own, or what the options say.
local function geometry_of(options, header)
  local size, ways, masks = options.cache or header.size, options.ways or header.ways, options.index_masks
  if options.cache or options.ways or masks then return size, ways, masks and "xor" or "linear", masks or "", false end
  return size, ways, header.index, header.index_masks, header.before == 0 and not header.on_fill
end

--- An error for options of which no cache of the machine can be made, before it runs. sim: a
-- machine that was built.
function replay.check(sim, options)
  if not (options.cache or options.ways or options.index_masks) then return end
  for _, path in ipairs(parts.paths(sim:objects(), "l1d")) do
    local l1d = sim.machine:find(path)
    local size, ways, index, masks = geometry_of(options, l1d)
    core.check_replay(size, ways, index, masks, l1d.line, l1d.sectors)
  end
end

local function replay_one(options, file)
  local header = core.trace_header(file)
  local size, ways, index, masks, same = geometry_of(options, header)
  local row = core.replay(file, size, ways, index, masks)
  if not same then row.timed = nil end
  row.name = header.path
  row.number = tonumber(header.path:match "%[(%d+)%]") or 0
  return row
end

--- { rows = of the caches, all = their sum } of the traces in a folder; each has hits, misses and
-- merges by kind. nil when there are no traces. options: cache = bytes, ways =, index_masks = of
-- another cache.
function replay.folder(folder, options)
  local rows, all = {}, { name = "all" }
  for _, name in ipairs(core.list_folder(folder)) do
    if name:match "%.trace$" then rows[#rows + 1] = replay_one(options, folder .. "/" .. name) end
  end
  if not rows[1] then return nil end
  table.sort(rows, function(a, b) return a.number < b.number end)
  for _, kind in ipairs(replay.kinds) do
    local sum = { hits = 0, misses = 0, merges = 0 }
    for _, row in ipairs(rows) do
      for _, what in ipairs { "hits", "misses", "merges" } do sum[what] = sum[what] + (row[kind] and row[kind][what] or 0) end
    end
    all[kind] = sum
  end
  if not rows[1].timed then all.timed = nil end
  return { all = all, rows = rows }
end

return replay
