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

--- The nodes of a tree of ascending keys, as words: leaves first, the root last. Also their number, and that of levels.
local function tree_of(keys)
  local nodes, levels = count_nodes(#keys)
  local words, first_keys, children = ww.array("i32", nodes * node_words), {}, {}
  for i = 1, #keys do first_keys[i], children[i] = keys[i - 1], i - 1 end
  local number = 0
  for level = 1, levels do
    local keys_above, children_above = {}, {}
    for first = 1, #first_keys, filled do
      local at, count = number * node_words, math.min(filled, #first_keys - first + 1)
      words[at], words[at + node_words - 2], words[at + node_words - 1] = number, level == 1 and 1 or 0, count
      for i = 0, order do
        local present = i < count
        words[at + keys_at + i] = present and first_keys[first + i] or largest
        if present then words[at + children_at + i] = children[first + i] end
      end
      keys_above[#keys_above + 1], children_above[#children_above + 1] = first_keys[first], number
      number = number + 1
    end
    first_keys, children = keys_above, children_above
  end
  return words, nodes, levels
end

function btree:run(gpu, size)
  local n, queries = size.keys, size.queries
  local keys, records, record_of, rng, key = ww.array("i32", n), ww.array("i32", n), {}, ww.rng(size.seed), 0
  for i = 0, n - 1 do
    key = key + rng:int(2, 12)
    keys[i], records[i] = key, rng:int(0, 1 << 30)
    record_of[key] = records[i]
  end
  local wanted, answers = ww.array("i32", queries), ww.array("i32", queries)
  for q = 0, queries - 1 do
    wanted[q] = keys[rng:int(0, n - 1)] + (rng:int(1, 100) <= size.absent and 1 or 0) -- the next key is at least 2 more
    answers[q] = record_of[wanted[q]] or -1
  end

  local words, nodes, levels = tree_of(keys)
  local current = gpu:upload(ww.array("i32", queries):fill(nodes - 1)) -- the root
  local next_node, found = gpu:alloc(4 * queries), gpu:upload(ww.array("i32", queries):fill(-1))
  gpu:launch(self.kernels.find_records, {
    grid = queries,
    block = order,
    args = {
      gpu:upload(words), gpu:upload(records), gpu:upload(wanted), current, next_node, found, levels,
    },
  })
  self:check("records", gpu:download("i32", found, queries), answers)
end

return btree
