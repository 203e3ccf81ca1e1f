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

--- Reads from anywhere in the text, with one base in fifty wrong (a list).
local function random_reads(text, size, rng)
  local reads, at = {}, 0
  for _ = 1, size.reads do
    local from = rng:int(0, size.bases - size.length)
    for place = from, from + size.length - 1 do
      local base = text[place]
      if rng:int(1, 50) == 1 then base = (base + rng:int(1, 3)) % 4 end
      at = at + 1
      reads[at] = base
    end
  end
  return reads
end

--- For each word of `length` bases in a text, as a number, the list of the places where it begins.
local function places_of_words(text, n, length)
  local places, range, word = {}, 4 ^ length // 1 | 0, 0
  for i = 0, n - 1 do
    word = (4 * word + text[i]) % range
    if i >= length - 1 then
      local begins = places[word]
      if begins then begins[#begins + 1] = i - length + 1 else places[word] = { i - length + 1 } end
    end
  end
  return places
end

--- Sets of all words of 1 to `longest` bases in a text (by length, then by the word as a number): a
-- word without its last base is a word, and those at the end of the text are no beginning of a
-- longer one. `places` has the longest.
local function sets_of_words(text, n, longest, places)
  local sets = { [longest] = places }
  for length = longest - 1, 1, -1 do
    local words, last = {}, 0
    for word in pairs(sets[length + 1]) do words[word // 4] = true end
    for i = n - length, n - 1 do last = 4 * last + text[i] end
    words[last] = true
    sets[length] = words
  end
  return sets
end

--- Where the longest match of a read's bases from `start` on stops that begins with a word at these
-- places. It lies on a diagonal of text and read.
local function match_stop(text, read, length, start, first_stop, places)
  local longest = first_stop
  for i = 1, #places do
    local diagonal, stop = places[i] - start, first_stop
    while stop < length and read[stop] == text[diagonal + stop] do stop = stop + 1 end
    if stop > longest then longest = stop end
  end
  return longest
end

--- The lengths of all matches, by words that reads and text have in common: no tree. No match goes
-- beyond a stop if the word that ends with the base there is not in the text, so that all starts
-- before that word have the same stop.
local function match_lengths(text, n, reads, size)
  local length, longest, starts = size.length, math.min(12, size.shortest), size.length - size.shortest + 1
  local places = places_of_words(text, n, longest)
  local sets, range, lengths, at = sets_of_words(text, n, longest, places), 4 ^ longest // 1 | 0, {}, 0
  local read, words = {}, {} -- words[k]: the one that ends with base k
  for first = 1, #reads, length do
    local word = 0
    for k = 0, length - 1 do
      read[k] = reads[first + k]
      word = (4 * word + read[k]) % range
      words[k] = word
    end
    local stop, same_before = 0, 0
    for start = 0, starts - 1 do
      if start >= same_before then
        word = words[start + longest - 1]
        if places[word] then
          stop = match_stop(text, read, length, start, start + longest, places[word])
          if stop == length then
            same_before = length
          elseif not places[words[stop]] then
            same_before = stop - longest + 2
          end
        else
          stop = start + longest
          repeat stop, word = stop - 1, word // 4 until stop == start or sets[stop - start][word]
        end
      end
      at = at + 1
      lengths[at] = stop - start
    end
  end
  return lengths
end

--- Checks that each match ends on the edge to its node, and that the way to there spells what the
-- read has. Matches of a read that lie on one diagonal of text and read are compared once.
local function check_nodes(self, tree, reference, reads, size, nodes, lengths)
  local depth, parent, places = tree.depth, tree.parent, tree.place
  local starts, wrong, at = size.length - size.shortest + 1, 0, 0
  for first = 0, size.reads * size.length - 1, size.length do
    local diagonal, spelt
    for start = first, first + starts - 1 do
      at = at + 1
      local node, length = nodes[at], lengths[at]
      local path = places[node]
      if not path or length > depth[node] or node > 0 and length <= depth[parent[node]] then
        wrong = wrong + 1
      elseif path - start ~= diagonal or start + length > spelt then
        diagonal, spelt = path - start, start + length
        if reference:sub(path + 1, path + length) ~= reads:sub(start + 1, spelt) then
          diagonal, wrong = nil, wrong + 1
        end
      end
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
  local symbols = ww.array_from("u8", table.move(text, 0, size.bases, 1, {}))
  local read_symbols = ww.array_from("u8", reads)

  local count = size.reads * (size.length - size.shortest + 1)
  local dev_matches = gpu:alloc(8 * count)
  gpu:launch(self.kernels.mummer, {
    grid = (size.reads + threads - 1) // threads, block = threads,
    args = {
      records(tree.nodes), records(tree.children),
      gpu:texture { buffer = gpu:upload(symbols), format = "u8", width = #symbols },
      gpu:upload(read_symbols), dev_matches,
      size.reads, size.length, size.shortest,
    },
  })

  local matches, nodes, lengths = gpu:download("i32", dev_matches, 2 * count):table(), {}, {}
  for i = 1, count do nodes[i], lengths[i] = matches[2 * i - 2], matches[2 * i - 1] end
  local want = match_lengths(text, size.bases, reads, size)
  self:check("lengths of matches", ww.i32(lengths), ww.i32(want))
  check_nodes(self, tree, symbols:string(), read_symbols:string(), size, nodes, lengths)
end

return mummer
