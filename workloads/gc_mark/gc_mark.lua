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

--- Objects in the order of their allocation: lists of their offsets in the heap in bytes, of their
-- counts of references and of which are garbage. Also the list of the live ones, by number, and how
-- many words all have.
local function allocate(size, rng)
  local log, floor, min, max = math.log, math.floor, math.min, math.max
  local offsets, counts, is_garbage, live, words = {}, {}, {}, {}, 0
  for i = 1, size.objects do
    local count = min(most_references, floor(-mean_references * log(1 - rng:float())))
    local payload = floor(-mean_payload * log(1 - rng:float()))
    offsets[i], counts[i] = 4 * words, count
    words = words + max(6, min(longest_words, (header_words + count + payload + 1) // 2 * 2))
    is_garbage[i] = rng:int(1, 100) <= size.garbage
    if not is_garbage[i] then live[#live + 1] = i end
  end
  return offsets, counts, is_garbage, live, words
end

--- The heap's words, and its objects' offsets in bytes in the order of their allocation. Four of
-- five references lead to objects at most some 64 KiB away. The roots are the first of `live`, the
-- numbers of live objects.
local function make_heap(size)
  local rng, count = ww.rng(size.seed), size.objects
  local offsets, counts, is_garbage, live, words = allocate(size, rng)
  local heap, near = ww.array("i32", words), near_bytes // mean_bytes
  for i = 1, count do
    local at, lowest, highest = offsets[i] // 4, math.max(1, i - near), math.min(count, i + near)
    heap[at + 1] = counts[i]
    for reference = at + header_words, at + header_words + counts[i] - 1 do
      local target
      repeat
        if rng:int(1, 5) == 1 then target = rng:int(1, count) else target = rng:int(lowest, highest) end
      until is_garbage[i] or not is_garbage[target]
      heap[reference] = offsets[target]
    end
  end
  return heap, offsets, live
end

--- The level of each object, by an eighth of its offset, -1 where none can be reached, and a list
-- of the offsets of those that can: a search of the heap with a queue.
local function levels_of(heap, roots)
  local level_at, queue, tail = ww.array("i16", #heap // 2):fill(-1), {}, #roots
  for i, root in ipairs(roots) do
    level_at[root // 8], queue[i] = 0, root
  end
  local level, head, level_end = 0, 1, 0
  while head <= tail do
    if head > level_end then level, level_end = level + 1, tail end
    local at = queue[head] // 4
    for reference = at + header_words, at + header_words + heap[at + 1] - 1 do
      local target = heap[reference]
      if level_at[target // 8] < 0 then
        level_at[target // 8], tail = level, tail + 1
        queue[tail] = target
      end
    end
    head = head + 1
  end
  return level_at, queue
end

--- The list must have each object that can be reached once, level by level; its order within a
-- level is the race's.
local function check_list(self, got, ends, level_at)
  local found_levels, want_levels, first = ww.array("i32", #got), ww.array("i32", #got), 0
  for level, level_end in ipairs(ends) do
    for i = first, level_end - 1 do
      local place = got[i] // 8
      local in_heap = got[i] % 8 == 0 and place >= 0 and place < #level_at
      found_levels[i], want_levels[i] = level - 1, in_heap and level_at[place] or -1
      if in_heap then level_at[place] = -1 end -- a second time is wrong
    end
    first = level_end
  end
  self:check("levels of the listed objects", found_levels, want_levels)
end

function gc_mark:run(gpu, size)
  local heap, offsets, live = make_heap(size)
  if #live < size.roots then
    error(("gc_mark: roots: expected at most %d, the live objects, got %d"):format(#live, size.roots), 0)
  end
  local roots, list = {}, ww.array("i32", size.objects)
  for i = 1, size.roots do
    roots[i] = offsets[live[i]]
    list[i - 1], heap[roots[i] // 4] = roots[i], 1
  end

  local dev_heap, dev_list = gpu:upload(heap), gpu:upload(list)
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

  local level_at, reachable = levels_of(heap, roots)
  self:check("number of listed objects", listed, #reachable)
  check_list(self, gpu:download("i32", dev_list, listed), ends, level_at)
  for i = 1, #reachable do heap[reachable[i] // 4] = 1 end
  self:check("heap with its marks", gpu:download("i32", dev_heap, #heap), heap)
end

return gc_mark
