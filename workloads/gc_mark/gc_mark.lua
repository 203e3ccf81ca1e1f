local ww = require "warpwright"

local gc_mark = ww.workload "gc_mark" {
  doc = "Mark phase of a garbage collector: lanes come back to their objects for references, the marks are anywhere",
  ptx = "gc_mark.ptx",
  sizes = { -- garbage: of a hundred objects, those that no live one refers to
    small = { objects = 2048, roots = 4, garbage = 25, seed = 1 },
    medium = { objects = 400000, roots = 4, garbage = 25, seed = 1 },
    paper = { objects = 400000, roots = 4, garbage = 25, seed = 1 },
  },
  expected = { class = "cache-sensitive", size = "small,objects=8192", hit_rate = { 0.3, 0.6 }, mpki = { 30, 60 } },
}

local threads <const>, header_words <const> = 256, 2
local longest_words <const>, most_references <const>, mean_references <const>, mean_payload <const> = 128, 32, 6.5, 10
local near_bytes <const>, mean_bytes <const> = 64 * 1024, 76

--- The heap's words, and its objects' offsets in bytes in the order of their allocation. Four of five references
-- lead to objects at most some 64 KiB away. The roots are the first of `live`, the numbers of live objects.
local function make_heap(size)
  local rng, log, min = ww.rng(size.seed), math.log, math.min
  local offsets, counts, is_garbage, live, words = {}, {}, {}, {}, 0
  for i = 1, size.objects do
    local count = min(most_references, math.floor(-mean_references * log(1 - rng:float())))
    local payload = math.floor(-mean_payload * log(1 - rng:float()))
    offsets[i], counts[i] = 4 * words, count
    words = words + math.max(6, min(longest_words, (header_words + count + payload + 1) // 2 * 2))
    is_garbage[i] = rng:int(1, 100) <= size.garbage
    if not is_garbage[i] then live[#live + 1] = i end
  end

  local heap, near = ww.array("i32", words), near_bytes // mean_bytes
  for i = 1, size.objects do
    local at = offsets[i] // 4
    heap[at + 1] = counts[i]
    for r = 0, counts[i] - 1 do
      local target
      repeat
        if rng:int(1, 5) == 1 then
          target = rng:int(1, size.objects)
        else
          target = rng:int(math.max(1, i - near), min(size.objects, i + near))
        end
      until is_garbage[i] or not is_garbage[target]
      heap[at + header_words + r] = offsets[target]
    end
  end
  return heap, offsets, live
end

--- The level of each object that can be reached, by its offset: a search with two lists, of the heap as it was.
local function levels_of(heap, roots)
  local level_of, level, now = {}, 0, roots
  for _, root in ipairs(roots) do level_of[root] = 0 end
  while #now > 0 do
    level = level + 1
    local following = {}
    for _, object in ipairs(now) do
      local at = object // 4
      for r = at + header_words, at + header_words + heap[at + 1] - 1 do
        local target = heap[r]
        if not level_of[target] then
          level_of[target] = level
          following[#following + 1] = target
        end
      end
    end
    now = following
  end
  return level_of
end

function gc_mark:run(gpu, size)
  local heap, offsets, live = make_heap(size)
  if #live < size.roots then
    error(("gc_mark: roots: expected at most %d, the live objects, got %d"):format(#live, size.roots), 0)
  end
  local roots, list = {}, ww.array("i32", size.objects)
  for i = 1, size.roots do
    roots[i] = offsets[live[i]]
    list[i - 1] = roots[i]
  end
  local level_of = levels_of(heap, roots)

  local marked = heap:copy()
  for _, root in ipairs(roots) do marked[root // 4] = 1 end
  local dev_heap, dev_list = gpu:upload(marked), gpu:upload(list)
  local tail = gpu:upload(ww.i32(size.roots))
  local first, listed, ends = 0, size.roots, {}
  while listed > first do
    ends[#ends + 1] = listed
    local count = listed - first
    gpu:launch(self.kernels.gc_mark, {
      grid = (count + threads - 1) // threads,
      block = threads,
      args = { dev_heap, dev_list, first, count, tail },
    })
    first, listed = listed, gpu:read("i32", tail)
  end

  -- The list has each object that can be reached once, level by level; its order within a level is the race's.
  local got, seen, from = gpu:download("i32", dev_list, listed), {}, 0
  local found_levels, want_levels = ww.array("i32", listed), ww.array("i32", listed)
  for level, level_end in ipairs(ends) do
    for i = from, level_end - 1 do
      local object = got[i]
      found_levels[i], want_levels[i] = level - 1, not seen[object] and level_of[object] or -1
      seen[object] = true
    end
    from = level_end
  end
  self:check("levels of the listed objects", found_levels, want_levels)

  local reachable = 0
  for object in pairs(level_of) do
    heap[object // 4] = 1
    reachable = reachable + 1
  end
  self:check("number of listed objects", listed, reachable)
  self:check("heap with its marks", gpu:download("i32", dev_heap, #heap), heap)
end

return gc_mark
