local ww = require "warpwright"
local suffix_tree = require "workloads.lib.suffix_tree"

local mummer = ww.workload "mummer" {
  doc = "Longest matches of reads in a suffix tree that is in textures: dependent gathers, divergent, texture-bound",
  ptx = "mummer.ptx",
  sizes = { -- length: of a read, in bases. shortest: no match begins with fewer bases of the read left
    small = { bases = 2000, reads = 256, length = 25, shortest = 10, seed = 1 },
    medium = { bases = 128 * 1024, reads = 20 * 1024, length = 50, shortest = 20, seed = 1 },
    paper = { bases = 128 * 1024, reads = 48 * 1024, length = 50, shortest = 20, seed = 1 },
  },
  expected = {
    class = "memory-intensive", size = "small,bases=4096,reads=512", instructions_per_texture_miss = { 1, 30 },
  },
}

local threads <const>, width <const> = 256, 1024

--- Random bases, 0 to 3 (a table from 0). A fifth of them repeats pieces from before.
local function random_reference(bases, rng)
  local text, i = {}, 0
  while i < bases do
    local piece, from = math.min(bases - i, rng:int(100, 600)), i > 0 and rng:int(1, 5) == 1 and rng:int(0, i - 1)
    for k = 0, piece - 1 do
      text[i] = from and text[from + k] or rng:int(0, 3)
      i = i + 1
    end
  end
  return text
end

--- Reads from anywhere in the text, with one base in fifty wrong.
local function random_reads(text, size, rng)
  local reads, at = ww.array("u8", size.reads * size.length), 0
  for _ = 1, size.reads do
    local from = rng:int(0, size.bases - size.length)
    for k = 0, size.length - 1 do
      local base = text[from + k]
      if rng:int(1, 50) == 1 then base = (base + rng:int(1, 3)) % 4 end
      reads[at] = base
      at = at + 1
    end
  end
  return reads
end

--- Sets of all words of 1 to `longest` bases in a text (by length, then by the word as a number), those of `longest`
-- with the places where they begin.
local function index_words(text, n, longest)
  local index = {}
  for length = 1, longest do
    local words, range, word = {}, 4 ^ length // 1 | 0, 0
    for i = 0, n - 1 do
      word = (4 * word + text[i]) % range
      local first = i - length + 1
      if first >= 0 then
        if length < longest then
          words[word] = true
        else
          local places = words[word]
          if not places then
            places = {}
            words[word] = places
          end
          places[#places + 1] = first
        end
      end
    end
    index[length] = words
  end
  return index
end

--- The lengths of all matches, by words that reads and text have in common: no tree. A word's place in the text and
-- the read are on a diagonal, on which they go on to match up to a place that is the same for all starts before it.
local function match_lengths(text, n, reads, size)
  local longest = math.min(12, size.shortest)
  local index, starts = index_words(text, n, longest), size.length - size.shortest + 1
  local places, range, want = index[longest], 4 ^ longest // 1 | 0, ww.array("i32", size.reads * starts)
  for r = 0, size.reads - 1 do
    local read, ends, word = {}, {}, 0
    for k = 0, size.length - 1 do read[k] = reads[r * size.length + k] end
    for k = 0, longest - 2 do word = 4 * word + read[k] end
    for start = 0, starts - 1 do
      word = (4 * word + read[start + longest - 1]) % range
      local best = 0
      if places[word] then
        for _, place in ipairs(places[word]) do
          local diagonal = place - start
          local stop = ends[diagonal] or 0
          if stop < start + longest then
            stop = start + longest
            while stop < size.length and read[stop] == text[diagonal + stop] do stop = stop + 1 end
            ends[diagonal] = stop
          end
          if stop - start > best then best = stop - start end
        end
      else
        local shorter = word
        for length = longest - 1, 1, -1 do
          shorter = shorter // 4
          if index[length][shorter] then
            best = length
            break
          end
        end
      end
      want[r * starts + start] = best
    end
  end
  return want
end

--- Checks that each match ends on the edge to its node, and that the way to there spells what the read has.
local function check_nodes(self, tree, text, n, reads, size, matches, lengths)
  local letters = {}
  for i = 0, n - 1 do letters[#letters + 1] = string.char(text[i] + 48) end
  local reference = table.concat(letters)
  local starts, wrong = size.length - size.shortest + 1, 0
  for r = 0, size.reads - 1 do
    letters = {}
    for k = 1, size.length do letters[k] = string.char(reads[r * size.length + k - 1] + 48) end
    local read = table.concat(letters)
    for start = 0, starts - 1 do
      local i = r * starts + start
      local node, length = matches[2 * i], lengths[i]
      local first = tree.nodes[4 * node + 1] - tree.depth[node] -- a place in the text that the node's path spells
      local on_edge = length <= tree.depth[node] and (node == 0 or length > tree.depth[tree.parent[node]])
      local spelt = reference:sub(first + 1, first + length) == read:sub(start + 1, start + length)
      if not (on_edge and spelt) then wrong = wrong + 1 end
    end
  end
  self:check("matches with a wrong node", wrong, 0)
end

function mummer:run(gpu, size)
  if size.shortest < 1 or size.shortest > size.length then
    error(("mummer: shortest: expected 1 to length (%d), got %d"):format(size.length, size.shortest), 0)
  end
  local rng = ww.rng(size.seed)
  local text = random_reference(size.bases, rng)
  local reads = random_reads(text, size, rng)
  local tree = suffix_tree.build(text, size.bases)
  local height = (tree.count + width - 1) // width
  local function records(array)
    local buffer = gpu:alloc(16 * width * height)
    gpu:write(buffer, array)
    return gpu:texture { buffer = buffer, format = "s32", channels = 4, width = width, height = height }
  end
  local symbols = ww.array("u8", size.bases + 1)
  for i = 0, size.bases do symbols[i] = text[i] end

  local count = size.reads * (size.length - size.shortest + 1)
  local dev_matches = gpu:alloc(8 * count)
  gpu:launch(self.kernels.mummer, {
    grid = (size.reads + threads - 1) // threads, block = threads,
    args = {
      records(tree.nodes), records(tree.children),
      gpu:texture { buffer = gpu:upload(symbols), format = "u8", width = #symbols }, gpu:upload(reads), dev_matches,
      size.reads, size.length, size.shortest,
    },
  })

  local matches, lengths = gpu:download("i32", dev_matches, 2 * count), ww.array("i32", count)
  for i = 0, count - 1 do lengths[i] = matches[2 * i + 1] end
  self:check("lengths of matches", lengths, match_lengths(text, size.bases, reads, size))
  check_nodes(self, tree, text, size.bases, reads, size, matches, lengths)
end

return mummer
