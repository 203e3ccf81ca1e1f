-- Runs the kernels of the D2MA paper (Jamshidi, Samadi, Mahlke, PACT 2014) in their plain and their
-- D2MA versions and prints what the engine is worth, beside the figures of the paper. `help` below
-- says how it is called.
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"
local parts = require "scripts.lib.parts"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: scripts/d2ma [options]

Runs each kernel in its plain and its D2MA version, sgemv in its CudaDMA version, too, and prints

  speed-up      cycles of the plain version over cycles of the other one, in the launches of the kernel
  instructions  warp instructions that the other version saves
  transfer      cycles of a tile's transfer, from its configuration (plain: the first warp at its first mark) to its end, and
                the part of them that is saved: of all, of those before its first request (AGEN), of the others (MEM)
  stalled       cycles in which no warp of an SM could issue while every CTA had a transfer in flight

"paper" is what the text of the paper says; figures that are only drawn there are missing. Means are geometric for speed-ups
and arithmetic otherwise, over the kernels of the paper's Table 2. A run that fails is shown and leaves a gap; the exit status
is then 1.

  --only A,B,...    these kernels: DCT, MM, DWT, TRANS1, TRANS2, FW, GAUSS, MEAN, SOBEL, PATH, SGEMV, LUD1, LUD2, SAXPY
  --size SIZE       small, medium (default) or large
  --config CONFIG   default: gtx480_d2ma
  --set PATH=VALUE  a parameter of the machine; may be repeated
  --json FILE       all results, in numbers
]]

-- Kernels: the paper's names (Table 2) and ours. `paper`: sections 5.1 to 5.4. SAXPY is the case
-- study of section 5.3 and is in none of the paper's averages.
local kernels = {
  { name = "DCT", workload = "dct8x8", paper = {} },
  { name = "MM", workload = "matmul", paper = { speedup = 1.14 } },
  { name = "DWT", workload = "haar", paper = { speedup = 1.15 } },
  { name = "TRANS1", workload = "transpose", size = "order=rows", paper = {} },
  { name = "TRANS2", workload = "transpose", size = "order=diagonal", paper = {} },
  { name = "FW", workload = "walsh", paper = {} },
  { name = "GAUSS", workload = "filter", size = "filter=gauss", paper = { speedup = 2.19, transfer = 0.96, agen = 0.99 } },
  { name = "MEAN", workload = "filter", size = "filter=mean", paper = { speedup = 2.15, transfer = 0.96, agen = 0.99 } },
  { name = "SOBEL", workload = "filter", size = "filter=sobel", paper = { speedup = 1.52, transfer = 0.96, agen = 0.99 } },
  { name = "PATH", workload = "pathfinder", paper = { speedup = 1.02 } },
  { name = "SGEMV", workload = "sgemv", also = "cudadma", paper = { speedup = 1.23, cudadma_speedup = 1.10 } },
  { name = "LUD1", workload = "lud", size = "kernel=internal", paper = { speedup = 0.93, instructions = -0.03 } },
  { name = "LUD2", workload = "lud", size = "kernel=diagonal", paper = {} },
  { name = "SAXPY", workload = "saxpy", beside = true, paper = {} },
}
local paper_means = { speedup = 1.36, instructions = 0.07, transfer = 0.81, agen = 0.98, mem = 0.66, plain_stalled = 0.07,
  d2ma_stalled = 0.01 }

local function usage_error(...) command_line.error("d2ma", ...) end

-- Runs --------------------------------------------------------------------------------------------

--- Cycles and instructions of the launches of one version's kernel; a decomposition launches others
-- as well.
local function add_launches(figures, r, version)
  figures.cycles, figures.instructions = 0, 0
  for _, launch in ipairs(r.launches) do
    if launch.kernel:sub(-#version - 1) == "_" .. version then
      figures.cycles = figures.cycles + launch.cycles
      figures.instructions = figures.instructions + launch.warp_instructions
    end
  end
end

-- The counters of a version's figures, by part.
local counters_of = {
  plain = { transfers = { "sm", "tiles" }, agen = { "sm", "tile_agen_cycles" }, mem = { "sm", "tile_mem_cycles" },
    all = { "sm", "tile_cycles" }, stalled = { "sm", "tile_stall_cycles" } },
  d2ma = { transfers = { "dma", "transfers" }, agen = { "dma", "agen_cycles" }, mem = { "dma", "mem_cycles" },
    all = { "dma", "transfer_cycles" }, stalled = { "sm", "transfer_stall_cycles" } },
}

--- Mean cycles of a transfer, before its first request and from there to its end, and the part of
-- the kernel's time in which an SM could do nothing but wait for transfers.
local function add_transfers(figures, r, version)
  local counted = {}
  for name, counter in pairs(counters_of[version]) do counted[name] = parts.sum(r, table.unpack(counter)) end
  local count, sms = counted.transfers, #parts.paths(r.structure, "sm")
  figures.transfers = count
  figures.agen, figures.mem, figures.transfer = counted.agen / count, counted.mem / count, counted.all / count
  figures.stalled = counted.stalled / (sms * figures.cycles)
end

local function run_version(options, kernel, version)
  local size = ("%s,version=%s"):format(options.size, version)
  if kernel.size then size = size .. "," .. kernel.size end
  print(("running %s, %s, on %s"):format(kernel.workload, size, options.config))
  io.stdout:flush()
  local ok, r = pcall(ww.run, { config = options.config, workload = kernel.workload, size = size, set = options.set, out = false })
  if not ok then
    print("FAILED: " .. tostring(r))
    return { problem = tostring(r) }
  end
  local figures = { verified = r.checks > 0 }
  add_launches(figures, r, version)
  if counters_of[version] then add_transfers(figures, r, version) end
  return figures
end

-- Figures -----------------------------------------------------------------------------------------

local function ratio(a, b) return a and b and b ~= 0 and a / b or nil end

--- What part of `before` is not there any more.
local function saved(before, after)
  local left = ratio(after, before)
  return left and 1 - left
end

local function run_kernel(options, kernel)
  local plain, d2ma = run_version(options, kernel, "plain"), run_version(options, kernel, "d2ma")
  local row = { kernel = kernel.name, workload = kernel.workload, beside = kernel.beside or false, paper = kernel.paper,
    plain = plain, d2ma = d2ma }
  row.speedup = ratio(plain.cycles, d2ma.cycles)
  row.instructions = saved(plain.instructions, d2ma.instructions)
  for _, what in ipairs { "transfer", "agen", "mem" } do row[what] = saved(plain[what], d2ma[what]) end
  row.plain_stalled, row.d2ma_stalled = plain.stalled, d2ma.stalled
  row.failed = plain.problem or d2ma.problem
  if kernel.also then
    row[kernel.also] = run_version(options, kernel, kernel.also)
    row[kernel.also .. "_speedup"] = ratio(plain.cycles, row[kernel.also].cycles)
    row.failed = row.failed or row[kernel.also].problem
  end
  return row
end

--- The mean of one figure over the kernels of Table 2 that have it; geometric or arithmetic.
local function mean(rows, figure, geometric)
  local sum, count = 0, 0
  for _, row in ipairs(rows) do
    local value = not row.beside and row[figure]
    if value then sum, count = sum + (geometric and math.log(value) or value), count + 1 end
  end
  if count == 0 then return nil end
  return geometric and math.exp(sum / count) or sum / count
end

local function means_of(rows)
  local means = { speedup = mean(rows, "speedup", true) }
  for _, figure in ipairs { "instructions", "transfer", "agen", "mem", "plain_stalled", "d2ma_stalled" } do
    means[figure] = mean(rows, figure)
  end
  return means
end

-- Printing ----------------------------------------------------------------------------------------

local function times(value) return value and ("%.2fx"):format(value) or "" end
local function percent(value) return value and ("%.0f %%"):format(100 * value) or "" end
local function cycles(value) return value and ("%.0f"):format(value) or "" end

local columns = { -- title, width, what a row has there
  { "speed-up", 8, function(r) return times(r.speedup) end },
  { "paper", 6, function(r) return times(r.paper.speedup) end },
  { "instr.", 7, function(r) return percent(r.instructions) end },
  { "paper", 6, function(r) return percent(r.paper.instructions) end },
  { "plain", 7, function(r) return cycles(r.plain and r.plain.transfer) end },
  { "d2ma", 6, function(r) return cycles(r.d2ma and r.d2ma.transfer) end },
  { "saved", 6, function(r) return percent(r.transfer) end },
  { "paper", 6, function(r) return percent(r.paper.transfer) end },
  { "AGEN", 6, function(r) return percent(r.agen) end },
  { "paper", 6, function(r) return percent(r.paper.agen) end },
  { "MEM", 6, function(r) return percent(r.mem) end },
  { "paper", 6, function(r) return percent(r.paper.mem) end },
  { "plain", 6, function(r) return percent(r.plain_stalled) end },
  { "d2ma", 6, function(r) return percent(r.d2ma_stalled) end },
}

local function print_row(name, cell)
  local texts = { ("%-7s"):format(name) }
  for i, column in ipairs(columns) do texts[i + 1] = ("%" .. column[2] .. "s"):format(cell(column)) end
  print((table.concat(texts, " "):gsub("%s+$", "")))
end

local function print_table(rows, means)
  print "\n                         saved        transfer: cycles               saved                            stalled"
  print_row("kernel", function(column) return column[1] end)
  for _, row in ipairs(rows) do
    if not row.beside then print_row(row.kernel, function(column) return column[3](row) end) end
  end
  means.paper = paper_means
  print_row("mean", function(column) return column[3](means) end)
  print(("paper's mean share of stalled cycles: %s, less than %s with D2MA"):format(percent(paper_means.plain_stalled),
    percent(paper_means.d2ma_stalled)))
  for _, row in ipairs(rows) do
    if row.beside then
      print "\nCase study, section 5.3"
      print_row(row.kernel, function(column) return column[3](row) end)
    end
    if row.cudadma then
      print "\nCase study, section 5.4: SGEMV over its plain version"
      print(("CudaDMA %s (paper %s), D2MA %s (paper %s)"):format(times(row.cudadma_speedup),
        times(row.paper.cudadma_speedup), times(row.speedup), times(row.paper.speedup)))
    end
  end
end

local function compare(options)
  local rows, failed = {}, false
  for _, kernel in ipairs(options.kernels) do
    rows[#rows + 1] = run_kernel(options, kernel)
    failed = failed or rows[#rows].failed
  end
  local means = means_of(rows)
  print_table(rows, means)
  if options.json then
    json.write(options.json, { config = options.config, size = options.size, set = options.set, kernels = rows, means = means })
    print("\nwritten to " .. options.json)
  end
  if failed then os.exit(1) end
end

-- Command line ------------------------------------------------------------------------------------

local function kernels_named(list)
  local found = {}
  for _, name in ipairs(command_line.words(list)) do
    local before = #found
    for _, kernel in ipairs(kernels) do
      if kernel.name == name then found[#found + 1] = kernel end
    end
    if #found == before then usage_error("--only: no kernel matches '%s'", name) end
  end
  return found
end

local function read_arguments(args)
  local options = { set = {}, size = "medium", config = "gtx480_d2ma", only = kernels }
  local words = command_line.read("d2ma", args, options, { only = kernels_named, size = command_line.text,
    config = command_line.text, set = command_line.list, json = command_line.output })
  if words[1] then command_line.expected_arguments("d2ma", "options", #words) end
  options.kernels = options.only
  preparation.find("config", options.config)
  local size = options.size:match "^[^,]*" -- which parameters it has, its run says
  for _, kernel in ipairs(options.kernels) do preparation.check_workload(kernel.workload, size) end
  return options
end

if command_line.helped(arg, help) then return end
compare(read_arguments(arg))
