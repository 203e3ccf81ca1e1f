-- Where the instructions of a simulated cycle go, part by part of the simulator; `help` below says
-- how it is called.
local callgrind = require "scripts.lib.callgrind"
local child = require "scripts.lib.child"
local json = require "warpwright.json"

local help = [[
usage: scripts/cycle_cost [--files] [ITEM...]

Counts the instructions that this computer executes for each simulated cycle with callgrind, and prints how many of them
are whose: of each part of the simulator, or with --files of each of its files. An instruction counts where its innermost
function is that is not inlined from a header; send and receive of links, for example, where they are called. ITEM is one
of scripts/bench.lua, workloads at their small sizes; default: sgemm spmv vecadd.
]]

-- A file belongs to the first part that has a pattern for it.
local parts = {
  { "fetch, scoreboard, issue", "^core/gpu/sm/fetch", "^core/gpu/sm/issue", "^core/gpu/sm/structures/instruction_cache" },
  { "operand collector", "^core/gpu/sm/structures/operand_collector" },
  { "effects: scoreboard, SIMT stack, barriers, CTAs", "^core/gpu/sm/execute", "^core/gpu/sm/memory_op",
    "^core/gpu/sm/structures/simt_stack", "^core/gpu/sm/barrier", "^core/gpu/sm/cta", "^core/gpu/device/dispatcher" },
  { "functional execution", "^core/ptx/" },
  { "load/store unit", "^core/gpu/lsu/" },
  { "the rest of the SM's cycle", "^core/gpu/" },
  { "L1, constant caches, L2", "^mem/cache/", "^mem/l1/", "^mem/l2/" },
  { "mux, crossbar, address map", "^mem/network/", "^mem/protocol/address_map" },
  { "memory controllers, DRAM", "^mem/dram/" },
  { "kernel: clusters, due times, link exchange", "^core/sim/" },
  { "C library", "^/" },
  { "other", "" },
}

local function part_of(path)
  for _, part in ipairs(parts) do
    for i = 2, #part do
      if path:find(part[i]) then return part[1] end
    end
  end
end

local function config_of(item) return item:find "^reference/" and "gtx480_gpgpusim4" or "gtx480" end

-- Where an instruction belongs --------------------------------------------------------------------

--- A file of the simulator, from the folder core or mem on.
local function short(path)
  local core, mem = path:match ".*/(core/.*)$" or path, path:match ".*/(mem/.*)$" or path
  return #core < #mem and core or mem
end

--- The file that an instruction counts for, of the places of its inlined functions from the
-- innermost outwards. The linker has functions of its own, and the places of some instructions are
-- not known.
local function file_of(places)
  for _, place in ipairs(places) do
    local path = place:match "^(.-):[%d?]+"
    if path and path:find "%.c$" then return short(path) end
  end
  return "?"
end

--- { [address] = file } for a list of addresses.
local function files_of(program, addresses)
  local path, files, current = os.tmpname(), {}, nil
  local list = assert(io.open(path, "wb"))
  list:write(table.concat(addresses, "\n"), "\n")
  list:close()
  local text = child.output({ "addr2line", "-i", "-a", "-e", program }, path)
  os.remove(path)
  if not text then error(("cycle_cost: addr2line failed on %s"):format(program), 0) end
  for line in text:gmatch "[^\n]+" do
    local address = math.tointeger(tonumber(line:match "^0x%x+$"))
    if address then
      current = address
      files[current] = {}
    else
      table.insert(files[current], line)
    end
  end
  for address, of_it in pairs(files) do files[address] = file_of(of_it) end
  return files
end

--- Measures an item: { cycles =, total =, [file] = instructions }.
local function measure(program, item)
  local printed, counts = callgrind.run(program, item, config_of(item), callgrind.each_instruction)
  local own, addresses, known = {}, {}, {}
  local measured = { cycles = json.decode(printed).cycles, total = callgrind.total(counts), files = {} }
  local function add(file, count) measured.files[file] = (measured.files[file] or 0) + count end
  callgrind.visit_instructions(counts, function(object, address, count)
    if object:match "[^/]*$" ~= program:match "[^/]*$" then
      add(object, count)
    else
      own[#own + 1] = { tonumber(address), count }
      if not known[address] then addresses[#addresses + 1] = address end
      known[address] = true
    end
  end)
  local files = files_of(program, addresses)
  for _, row in ipairs(own) do add(files[row[1]], row[2]) end
  return measured
end

-- Printing ----------------------------------------------------------------------------------------

--- Names, and for each the sums of every item: by part, or by file with the largest first.
local function rows_of(measured, by_file)
  local names, sums = {}, {}
  for i, m in ipairs(measured) do
    for file, count in pairs(m.files) do
      local name = by_file and file or part_of(file)
      if not sums[name] then
        sums[name] = {}
        names[#names + 1] = name
      end
      sums[name][i] = (sums[name][i] or 0) + count
    end
  end
  local place = {}
  for i, part in ipairs(parts) do place[part[1]] = i end
  table.sort(names, function(a, b)
    if not by_file then return place[a] < place[b] end
    local x, y = sums[a][1] or 0, sums[b][1] or 0
    return x > y or x == y and a < b
  end)
  return names, sums
end

local function print_table(items, measured, by_file)
  local names, sums = rows_of(measured, by_file)
  local head, ends = { ("%-50s"):format "instructions per simulated cycle" }, { ("%-50s"):format "in all" }
  for i, item in ipairs(items) do
    head[#head + 1] = ("%20s"):format(item)
    ends[#ends + 1] = ("%12.0f%7.1f%%"):format(measured[i].total / measured[i].cycles, 100)
  end
  print(table.concat(head))
  for _, name in ipairs(names) do
    local line = { ("%-50s"):format(name) }
    for i, m in ipairs(measured) do
      local count = sums[name][i] or 0
      line[#line + 1] = ("%12.0f%7.1f%%"):format(count / m.cycles, 100 * count / m.total)
    end
    print(table.concat(line))
  end
  print(table.concat(ends))
end

-- Command line ------------------------------------------------------------------------------------

local items, by_file = {}, false
for _, word in ipairs(arg) do
  if word == "--help" or word == "-h" then
    io.write(help)
    return
  elseif word == "--files" then
    by_file = true
  elseif word:sub(1, 1) == "-" then
    error(("cycle_cost: unknown option '%s'; see scripts/cycle_cost --help"):format(word), 0)
  else
    items[#items + 1] = word
  end
end
if not items[1] then items = { "sgemm", "spmv", "vecadd" } end

local measured = {}
for i, item in ipairs(items) do measured[i] = measure(arg[-1], item) end
print_table(items, measured, by_file)
