local ww = require "warpwright"

local btree = ww.workload "btree" {
  doc = "Look-ups in a B+ tree, a CTA for each query: coalesced reads of nodes, whose upper levels all queries share",
  ptx = "btree.ptx",
  sizes = { -- absent: of a hundred queries, so many are for keys that the tree lacks
    small = { keys = 4096, queries = 128, absent = 5, seed = 1 },
    medium = { keys = 1000000, queries = 30000, absent = 5, seed = 1 },
    paper = { keys = 1000000, queries = 10000, absent = 5, seed = 1 },
  },
  expected = { class = "friendly: upper levels in the caches", hit_rate = { 0.3, 1 }, mpki = { 0, 10 } },
}

local order <const>, filled <const>, largest <const> = 256, 200, 0x7fffffff
local node_words <const>, children_at <const>, keys_at <const> = 2 * (order + 1) + 3, 1, order + 2

--- How many nodes a tree of so many keys has, and how many levels.
local function count_nodes(keys)
  local nodes, levels, width = 0, 0, keys
  repeat
    width = (width + filled - 1) // filled
    nodes, levels = nodes + width, levels + 1
  until width == 1
  return nodes, levels
end

--- The nodes of a tree of ascending keys (i32), as words: leaves first, the root last. Also their
-- number, and that of levels.
local function tree_of(keys)
  local nodes, levels = count_nodes(#keys)
  local words, no_keys = ww.array("i32", nodes * node_words), ww.array("i32", order + 1):fill(largest)
  -- A node's children have numbers that follow each other: records in leaves, nodes of the level
  -- below in others.
  local first_keys, numbers, child, number = keys, {}, 0, 0
  for i = 1, #keys do numbers[i] = i - 1 end
  numbers = ww.i32(numbers)
  for level = 1, levels do
    local keys_above, first_of_level = {}, number
    for first = 0, #first_keys - 1, filled do
      local at, count = number * node_words, math.min(filled, #first_keys - first)
      words[at], words[at + node_words - 2], words[at + node_words - 1] = number, level == 1 and 1 or 0, count
      words:put(at + keys_at, no_keys):put(at + keys_at, first_keys, first, count)
      words:put(at + children_at, numbers, child + first, count)
      keys_above[#keys_above + 1] = first_keys[first]
      number = number + 1
    end
    first_keys, child = ww.i32(keys_above), first_of_level
  end
  return words, nodes, levels
end

function btree:run(gpu, size)
  local n, queries = size.keys, size.queries
  local keys, records, rng, key = {}, {}, ww.rng(size.seed), 0
  for i = 1, n do
    key = key + rng:int(2, 12)
    keys[i], records[i] = key, rng:int(0, 1 << 30)
  end
  local wanted, answers = {}, {}
  for q = 1, queries do
    local i, is_absent = rng:int(0, n - 1) + 1, rng:int(1, 100) <= size.absent
    wanted[q] = keys[i] + (is_absent and 1 or 0) -- the next key is at least 2 more
    answers[q] = is_absent and -1 or records[i]
  end

  local words, nodes, levels = tree_of(ww.i32(keys))
  local current = gpu:upload(ww.array("i32", queries):fill(nodes - 1)) -- the root
  local next_node, found = gpu:alloc(4 * queries), gpu:upload(ww.array("i32", queries):fill(-1))
  gpu:launch(self.kernels.find_records, {
    grid = queries,
    block = order,
    args = {
      gpu:upload(words), gpu:upload(ww.i32(records)), gpu:upload(ww.i32(wanted)), current, next_node, found, levels,
    },
  })
  self:check("records", gpu:download("i32", found, queries), ww.i32(answers))
end

return btree
