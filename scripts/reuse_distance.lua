-- Reuse distances of caches, from the trace of a run; `help` below says how it is called.
local command_line = require "scripts.lib.command_line"
local core = require "warpwright.core"
local json = require "warpwright.json"
local names = require "warpwright.names"
local reuse_stack = require "scripts.lib.reuse_stack"
local stored_run = require "warpwright.stored_run"
local text_table = require "warpwright.sweep.table"
local trace_lines = require "warpwright.explain.trace_lines"

local help = [[
usage: scripts/reuse_distance [options] FOLDER|TRACE

Tells how many different lines a cache was asked for between two accesses to a line, from the trace of a run:

  warpwright run CONFIG WORKLOAD --trace 'sm[*].l1d,l2[*]' --events hit,miss,merge --out FOLDER

`up to here` is the share of all accesses that a fully associative cache of `cache of` bytes, which replaces by LRU and has each
line at once, would hit. An access is a request to the tags: those that pass the cache by are left out, those of instructions and
constants are not. Each cache has distances of its own; caches that are alike but for indices make one table.

  --caches PATTERN  only these, default: all in the trace
  --each            a table for each cache
  --line BYTES      the size of a line, default: as config.lua in the folder says
  --json FILE       writes the figures
]]

local function usage_error(...) command_line.error("reuse_distance", ...) end

-- Reading -----------------------------------------------------------------------------------------

--- The sizes of lines by path, of a machine as Lua text.
local function line_sizes(text)
  local sizes, object = {}, nil
  for line in text:gmatch "[^\n]+" do
    object = line:match '^%s*m:%w+ "([^"]+)"' or object
    local bytes = line:match "^%s+line = (%d+),"
    if object and bytes then sizes[object] = math.tointeger(bytes) end
  end
  return sizes
end

--- A function of a cache's path that gives the bytes of its lines.
local function sizes_of(options)
  local text = not options.line and stored_run.read_config(options.path)
  local sizes = text and line_sizes(text) or {}
  return function(path)
    return options.line or sizes[path] or usage_error("%s: expected --line BYTES, got no config.lua that has the lines of %s", options.path, path)
  end
end

local is_access <const> = { hit = true, miss = true, merge = true }

--- The bucket of a distance: 0, 1, 2 to 3, 4 to 7, ...
local function bucket_of(distance)
  local bucket = 0
  while distance > 0 do distance, bucket = distance >> 1, bucket + 1 end
  return bucket
end

local function new_table(name, line) return { name = name, line = line, accesses = 0, first = 0, counts = {}, most = 0 } end

--- A list of { name =, line = bytes, accesses =, first = accesses to lines for the first time,
-- counts = by bucket, most = bucket }.
local function read(options)
  local file = core.is_file(options.path) and options.path or options.path .. "/trace.txt"
  if not core.is_file(file) then usage_error("expected the folder of a run with --trace, or a trace, got '%s'", options.path) end
  local trace = trace_lines.open("reuse_distance", file)
  local bytes_of, list, by_name, caches = sizes_of(options), {}, {}, {}
  local function cache_at(path)
    local name, line = options.each and path or path:gsub("%[%d+%]", "[*]"), bytes_of(path)
    if not by_name[name] then
      by_name[name] = new_table(name, line)
      list[#list + 1] = by_name[name]
    elseif by_name[name].line ~= line then
      usage_error("%s: expected caches with lines of one size, got %d and %d bytes; --each keeps them apart", name, by_name[name].line, line)
    end
    return { of = by_name[name], stack = reuse_stack.new() }
  end
  trace_lines.each(trace, function(text)
    local path, event, address = text:match "^%d+ (%S+) (%S+) .-B at (0x%x+)"
    if not address or not is_access[event] then return end
    if caches[path] == nil then caches[path] = (not options.caches or core.path_matches(options.caches, path)) and cache_at(path) end
    local cache = caches[path]
    if not cache then return end
    local of = cache.of
    local distance = cache.stack:access(math.tointeger(address) // of.line)
    of.accesses = of.accesses + 1
    if not distance then
      of.first = of.first + 1
    else
      local bucket = bucket_of(distance)
      of.counts[bucket], of.most = (of.counts[bucket] or 0) + 1, math.max(of.most, bucket)
    end
  end)
  if not list[1] then
    usage_error("%s: expected the events hit, miss and merge of caches%s, got none", trace.path, options.caches and " " .. options.caches or "")
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- Printing ----------------------------------------------------------------------------------------

local function bytes_text(bytes)
  for _, unit in ipairs { "MiB", "KiB" } do
    local size = unit == "MiB" and 1 << 20 or 1 << 10
    if bytes % size == 0 then return ("%d%s"):format(bytes // size, unit) end
  end
  return ("%dB"):format(bytes)
end

--- { from =, to = lines between, accesses =, up_to_here = share } of each bucket up to the last
-- that is not empty.
local function buckets_of(of)
  local rows, below = {}, 0
  for bucket = 0, of.most do
    local count = of.counts[bucket] or 0
    below = below + count
    rows[#rows + 1] = { from = bucket > 0 and 1 << (bucket - 1) or 0, to = (1 << bucket) - 1, accesses = count, up_to_here = below / of.accesses }
  end
  return rows
end

local function print_table(of)
  print(("%s: %d accesses, %d of them the first to their line"):format(of.name, of.accesses, of.first))
  local rows = {}
  for i, row in ipairs(of.buckets) do
    rows[i] = { row.from, row.to, row.accesses, ("%.2f%%"):format(100 * row.accesses / of.accesses), ("%.2f%%"):format(100 * row.up_to_here),
      bytes_text((row.to + 1) * of.line) }
  end
  io.write(text_table.text({ "from", "to lines", "accesses", "share", "up to here", "cache of" }, rows))
end

local function main(options)
  local list, figures = read(options), {}
  for i, of in ipairs(list) do
    of.buckets = buckets_of(of)
    if i > 1 then print() end
    print_table(of)
    figures[i] = { name = of.name, line = of.line, accesses = of.accesses, first = of.first, buckets = of.buckets }
  end
  if options.json then json.write(options.json, figures) end
end

-- Command line ------------------------------------------------------------------------------------

local readers = { caches = command_line.text, each = command_line.flag, json = command_line.output,
  line = function(text) return core.quantity(text, "bytes", "line") end }

local function read_arguments(args)
  local options = {}
  local words = command_line.read("reuse_distance", args, options, readers)
  if #words ~= 1 then command_line.expected_arguments("reuse_distance", "the folder of a run with --trace, or a trace", #words) end
  if options.caches then names.check_indices("--caches", options.caches) end
  options.path = words[1]
  if options.line and options.line < 1 then command_line.expected("reuse_distance", "--line", "1 byte or more", options.line) end
  return options
end

if command_line.helped(arg, help) then return end
main(read_arguments(arg))
