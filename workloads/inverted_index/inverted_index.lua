local ww = require "warpwright"
local bitonic = require "workloads.lib.bitonic"
local html = require "workloads.lib.html"

local inverted_index = ww.workload "inverted_index" {
  doc = "Finds the links in lines of HTML byte by byte: each lane comes back to a line of its own a hundred times",
  ptx = "inverted_index.ptx",
  sizes = { -- lines of shortest to longest bytes; sort = 1: the links are sorted in the end
    small = { lines = 512, shortest = 48, longest = 80, sort = 1, seed = 1 },
    medium = { lines = 64 * 1024, shortest = 48, longest = 144, sort = 0, seed = 1 },
    paper = { lines = 128 * 1024, shortest = 48, longest = 144, sort = 0, seed = 1 },
  },
  expected = { class = "thrashing", size = "paper,lines=8192", hit_rate = { 0, 0.3 }, mpki = { 40, 120 } },
}

local lines_of_a_file <const> = 64

--- The links that Lua's own search finds: lists of offsets, hashes and lines.
local function find_links(lines, start)
  local links = { offset = {}, hash = {}, line = {}, count = ww.array("i32", #lines) }
  for i, line in ipairs(lines) do
    local from = 1
    while true do
      local first, last = line:find('<a href="', from, true)
      if not first then break end
      local target = line:match('^[^"]*', last + 1)
      local hash = 5381
      for j = 1, #target do hash = hash * 33 + target:byte(j) & 0xffffffff end
      local n = #links.offset + 1
      links.offset[n], links.hash[n], links.line[n] = start[i - 1] + last, hash, i - 1
      links.count[i - 1] = links.count[i - 1] + 1
      from = last + 1
    end
  end
  return links
end

--- Where each line's links begin among all, and how many there are.
local function prefix_sums(counts)
  local place, sum = ww.array("i32", #counts), 0
  for i = 0, #counts - 1 do place[i], sum = sum, sum + counts[i] end
  return place, sum
end

--- Checks { offset, hash } pairs and file numbers against the links in this order.
local function check_links(self, what, gpu, dev_links, dev_files, links, order)
  local pairs_, files = gpu:download("u32", dev_links, 2 * #order), gpu:download("i32", dev_files, #order)
  local offsets, hashes, want_files = ww.array("u32", #order), ww.array("u32", #order), ww.array("i32", #order)
  local got_offsets, got_hashes = ww.array("u32", #order), ww.array("u32", #order)
  for i, n in ipairs(order) do
    offsets[i - 1], hashes[i - 1], want_files[i - 1] = links.offset[n], links.hash[n], links.line[n] // lines_of_a_file
    got_offsets[i - 1], got_hashes[i - 1] = pairs_[2 * i - 2], pairs_[2 * i - 1]
  end
  self:check("offsets of " .. what, got_offsets, offsets)
  self:check("hashes of " .. what, got_hashes, hashes)
  self:check("files of " .. what, files, want_files)
end

function inverted_index:run(gpu, size)
  local n = size.lines
  local lines = html.lines(n, size.shortest, size.longest, size.seed)
  local text, start = html.buffer(lines)
  local file = ww.array("i32", n)
  for i = 0, n - 1 do file[i] = i // lines_of_a_file end
  local dev_text, dev_start, dev_count = gpu:upload(text), gpu:upload(start), gpu:alloc(4 * n)
  local grid, block = (n + 255) // 256, 256

  gpu:launch(self.kernels.index_count, { grid = grid, block = block, args = { dev_text, dev_start, dev_count, n } })
  local links = find_links(lines, start)
  local count = gpu:download("i32", dev_count, n)
  self:check("links of each line", count, links.count)

  local place, total = prefix_sums(count)
  local capacity = bitonic.capacity(total) -- what is missing has the largest hash
  local dev_links, dev_files = gpu:alloc(8 * capacity), gpu:alloc(4 * capacity)
  gpu:fill(dev_links, 0xff, 8 * capacity)
  gpu:fill(dev_files, 0, 4 * capacity) -- those of what is missing are sorted along
  gpu:launch(self.kernels.index_emit, {
    grid = grid, block = block, args = { dev_text, dev_start, gpu:upload(place), gpu:upload(file), dev_links, dev_files, n },
  })
  local order = {}
  for i = 1, total do order[i] = i end
  check_links(self, "links", gpu, dev_links, dev_files, links, order)

  if size.sort == 1 then
    bitonic.sort(gpu, { step = self.kernels.index_sort }, capacity, 256, { dev_links, dev_files })
    table.sort(order, function(a, b)
      if links.hash[a] ~= links.hash[b] then return links.hash[a] < links.hash[b] end
      return links.offset[a] < links.offset[b]
    end)
    check_links(self, "sorted links", gpu, dev_links, dev_files, links, order)
  end
end

return inverted_index
