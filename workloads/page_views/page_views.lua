local ww = require "warpwright"
local bitonic = require "workloads.lib.bitonic"
local html = require "workloads.lib.html"
local random = require "workloads.lib.random"

local page_views = ww.workload "page_views" {
  doc = "Counts page views in a log: maps go through lines byte by byte, bitonic sorts gather what they compare",
  ptx = "page_views.ptx",
  -- urls: pages viewed; skew: of their Zipf distribution; again: of a hundred lines, those that
  -- repeat an earlier one; sorters: threads of a CTA that sorts in shared memory, 128 at most
  sizes = {
    small = { lines = 256, urls = 32, skew = 0.8, again = 20, sorters = 32, seed = 1 },
    medium = { lines = 32 * 1024, urls = 32 * 1024, skew = 0.8, again = 10, sorters = 128, seed = 1 },
    paper = { lines = 64 * 1024, urls = 8 * 1024, skew = 0.8, again = 20, sorters = 128, seed = 1 },
  },
  expected = { class = "lines byte by byte, sorts that gather", hit_rate = { 0.7, 0.95 }, mpki = { 8, 25 } },
}

local threads <const>, entry_bytes <const> = 256, 16

--- Lines of 60 to 120 bytes, each with its end.
local function make_log(size)
  local rng, urls, lines = ww.rng(size.seed), {}, {}
  for i = 1, size.urls do
    urls[i] = ("http://%s.com/%s/%d.html"):format(random.text(rng, 4, 10), random.text(rng, 4, 26), i)
  end
  local draw = random.zipf(rng, size.urls, size.skew)
  for i = 1, size.lines do
    if i > 1 and rng:int(1, 100) <= size.again then
      lines[i] = lines[rng:int(1, i - 1)]
    else
      lines[i] = ("%s\t%d.%d.%d.%d\t%s\n"):format(urls[draw()], rng:int(1, 255), rng:int(0, 255), rng:int(0, 255),
        rng:int(1, 255), random.text(rng, 16, 32))
    end
  end
  return lines
end

--- How many different lines each url has.
local function count_views(lines)
  local seen, views = {}, {}
  for _, line in ipairs(lines) do
    if not seen[line] then
      seen[line] = true
      local url = line:match "^[^\t]*"
      views[url] = (views[url] or 0) + 1
    end
  end
  return views
end

--- For each entry, how many entries before it are first ones; and where the first ones are, with
-- the end of the last.
local function places(is_first)
  local place, starts = ww.array("i32", #is_first), {}
  for i = 0, #is_first - 1 do
    place[i] = #starts
    if is_first[i] == 1 then starts[#starts + 1] = i end
  end
  local start = ww.array("i32", #starts + 1)
  for i, at in ipairs(starts) do start[i - 1] = at end
  start[#starts] = #is_first
  return place, start, #starts
end

function page_views:run(gpu, size)
  local n, kernels = size.lines, self.kernels
  local lines = make_log(size)
  local text, start = html.buffer(lines)
  local log, capacity = gpu:upload(text), bitonic.capacity(n)
  local line_entries, url_entries = gpu:alloc(entry_bytes * capacity), gpu:alloc(entry_bytes * capacity)
  local is_first = gpu:alloc(4 * n)
  local function launch(kernel, count, ...)
    gpu:launch(kernel, { grid = (count + threads - 1) // threads, block = threads, args = { ... } })
  end
  local function sort(entries, count)
    bitonic.sort(gpu, { step = kernels.views_sort_step, block = kernels.views_sort_block }, bitonic.capacity(count),
      size.sorters, { log, entries })
  end

  gpu:fill(line_entries, 0xff, entry_bytes * capacity)
  launch(kernels.views_of_lines, n, log, gpu:upload(start), line_entries, n)
  sort(line_entries, n)
  launch(kernels.views_is_first, n, log, line_entries, is_first, n)
  local place, _, different = places(gpu:download("i32", is_first, n))

  gpu:fill(url_entries, 0xff, entry_bytes * capacity)
  launch(kernels.views_of_urls, n, log, line_entries, is_first, gpu:upload(place), url_entries, n)
  sort(url_entries, different)
  launch(kernels.views_is_first, different, log, url_entries, is_first, different)
  local _, group_start, groups = places(gpu:download("i32", is_first, different))
  local dev_groups = gpu:alloc(entry_bytes * groups)
  launch(kernels.views_count, groups, url_entries, gpu:upload(group_start), dev_groups, groups)

  local views, urls = count_views(lines), 0
  for _ in pairs(views) do urls = urls + 1 end
  self:check("number of urls", groups, urls)
  local all, found = table.concat(lines), gpu:download("i32", dev_groups, entry_bytes // 4 * groups)
  local got, want = ww.array("i32", groups), ww.array("i32", groups)
  for g = 0, groups - 1 do
    local url = all:sub(found[4 * g] + 1, found[4 * g] + found[4 * g + 1])
    got[g], want[g] = found[4 * g + 3], views[url] or 0
    views[url] = nil -- a second time is wrong
  end
  self:check("views", got, want)
end

return page_views
