-- What kind of load a workload is, from the result of a run: for scripts/character.lua and the
-- tests of workloads.
local parts = require "scripts.lib.parts"

local character = {}

--- { hit_rate, merge_rate, instructions_per_miss, mpki } of the loads at the L1s; stores are left
-- out, since these never hit in a write-evict cache. With instructions_per_texture_miss, of the
-- texture caches, when textures were fetched from. nil where the machine has no L1 data cache.
function character.of(r)
  local hits, misses, merges = parts.read_sum(r, "l1d", "hits"), parts.read_sum(r, "l1d", "misses"), parts.read_sum(r, "l1d", "merges")
  if not hits then return nil end
  local loads = math.max(1, hits + misses + merges)
  return {
    hit_rate = hits / loads,
    merge_rate = merges / loads,
    instructions_per_miss = r.warp_instructions / math.max(1, misses),
    mpki = 1000 * misses / r.thread_instructions,
    instructions_per_texture_miss = parts.sum(r, "lsu", "texture_loads") > 0
      and r.warp_instructions / math.max(1, parts.sum(r, "texture_cache", "misses") or 0) or nil,
  }
end

--- What is outside the ranges { low, high } of a workload's `expected`, as a text; nil when nothing
-- is.
function character.complaint(c, expected)
  for _, name in ipairs { "hit_rate", "instructions_per_miss", "instructions_per_texture_miss", "mpki" } do
    local range = expected[name]
    if range and not (range[1] <= c[name] and c[name] <= range[2]) then
      return ("%s: expected %g to %g, got %g"):format(name, range[1], range[2], c[name])
    end
  end
end

character.head = [[
| workload | size | machine, policy | cycles | IPC | hits (merges) | instr/miss | MPKI | s |
|---|---|---|---|---|---|---|---|---|]]

--- The cells from cycles to MPKI.
function character.figures(r)
  local c = character.of(r)
  if not c then return ("%d | %.1f | - | - | -"):format(r.cycles, r.ipc) end
  return ("%d | %.1f | %.1f (%.1f) | %.2f | %.1f"):format(r.cycles, r.ipc, 100 * c.hit_rate, 100 * c.merge_rate,
    c.instructions_per_miss, c.mpki)
end

function character.row(r)
  return ("| %s | %s | %s %s | %s | %.1f |"):format(r.workload, r.size, r.machine, r.policy, character.figures(r), r.seconds)
end

--- A Markdown text with the figures of its rows as they are now. A row begins "| WORKLOAD, MORE |
-- SIZE | CONFIG POLICY | CYCLES |"; an empty cell is as the one above. `measure`, a function of
-- workload, size, config and policy, returns the five cells, or nil for a row that is to stay.
function character.updated(text, measure)
  local workload, size
  return (text:gsub("[^\n]+", function(line)
    local name, sized, config, policy = line:match "^| ([^|]-) ?| ([^|]-) ?| ([%w_]+) ([^ |]+) | %d+ |"
    if not name then return nil end
    if name ~= "" then workload = name:match "^[%w_]+" end
    if sized ~= "" then size = sized end
    local figures = measure(workload, size, config, policy)
    return figures and line:gsub("^(|[^|]*|[^|]*|[^|]*| )[^|]*|[^|]*|[^|]*|[^|]*|[^|]*|", "%1" .. figures:gsub("%%", "%%%%") .. " |")
  end))
end

return character
