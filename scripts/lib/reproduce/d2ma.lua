-- Figures of D2MA: D. A. Jamshidi, M. Samadi, S. Mahlke, PACT 2014.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"

local machine <const> = "gtx480_d2ma"

local function version(name, label)
  return { name = label or name, size = "version=" .. name, version = name }
end

local plain, d2ma = version("plain", "plain"), version("d2ma", "D2MA")

local figure_9 = kit.bars {
  id = "d2ma/9", title = "D2MA over plain copying", unit = "speed-up",
  config = machine, kernels = kernels.d2ma, base = plain, value = kit.speedup, mean = "geometric", series = { d2ma },
  paper = {
    GAUSS = { D2MA = 2.19 }, MEAN = { D2MA = 2.15 }, SOBEL = { D2MA = 1.52 }, SGEMV = { D2MA = 1.23 }, DWT = { D2MA = 1.15 },
    MM = { D2MA = 1.14 }, PATH = { D2MA = 1.02 }, LUD1 = { D2MA = 0.93 }, mean = { D2MA = 1.36 },
  },
  headlines = function(v, t)
    local most = 0
    for _, row in ipairs(t.rows) do most = math.max(most, row.mean and 0 or row.values.D2MA) end
    return {
      { what = "mean", kind = "gain", paper = 1.36, ours = v.mean.D2MA },
      { what = "largest", kind = "gain", paper = 2.29, ours = most > 0 and most or nil },
    }
  end,
}

local function instructions(r, base, kernel, series, base_series)
  return 1 - kit.of_launches(r, kernel, "warp_instructions", series.version)
    / kit.of_launches(base, kernel, "warp_instructions", base_series.version)
end

local figure_10 = kit.bars {
  id = "d2ma/10", title = "Warp instructions saved", unit = "share",
  config = machine, kernels = kernels.d2ma, base = plain, value = instructions, mean = "arithmetic", series = { d2ma },
  paper = { LUD1 = { D2MA = -0.03 }, mean = { D2MA = 0.07 } },
  headlines = function(v) return { { what = "mean", kind = "share", paper = 0.07, ours = v.mean.D2MA } } end,
}

-- Transfers ---------------------------------------------------------------------------------------

local counters = {
  plain = { count = "sm[*].tiles", agen = "sm[*].tile_agen_cycles", mem = "sm[*].tile_mem_cycles", all = "sm[*].tile_cycles",
    stalled = "sm[*].tile_stall_cycles" },
  d2ma = { count = "sm[*].dma.transfers", agen = "sm[*].dma.agen_cycles", mem = "sm[*].dma.mem_cycles",
    all = "sm[*].dma.transfer_cycles", stalled = "sm[*].transfer_stall_cycles" },
}

--- Mean cycles of a transfer, of a part of it.
local function per_transfer(r, version_name, part)
  local names = counters[version_name]
  return kit.ratio(kit.sum(r, names[part]), kit.sum(r, names.count))
end

local function saved(part)
  return function(r, base) return 1 - kit.ratio(per_transfer(r, "d2ma", part), per_transfer(base, "plain", part)) end
end

local function saving(part, name)
  return { name = name, size = d2ma.size, version = "d2ma", value = saved(part) }
end

local figure_11 = kit.bars {
  id = "d2ma/11", title = "Cycles of a tile's transfer saved: before its first request (AGEN), after it (MEM), all", unit = "share",
  config = machine, kernels = kernels.d2ma, base = plain, mean = "arithmetic",
  series = { saving("agen", "AGEN"), saving("mem", "MEM"), saving("all", "all") },
  paper = { GAUSS = { AGEN = 0.99, all = 0.96 }, MEAN = { AGEN = 0.99, all = 0.96 }, SOBEL = { AGEN = 0.99, all = 0.96 },
    mean = { AGEN = 0.98, MEM = 0.66, all = 0.81 } },
  headlines = function(v)
    return {
      { what = "AGEN, mean", kind = "share", paper = 0.98, ours = v.mean.AGEN },
      { what = "MEM, mean", kind = "share", paper = 0.66, ours = v.mean.MEM },
      { what = "all, mean", kind = "share", paper = 0.81, ours = v.mean.all },
    }
  end,
}

local function stalled(version_name)
  return function(r, _, kernel, series)
    return kit.ratio(kit.sum(r, counters[version_name].stalled), r.sms * kit.cycles(r, kernel, series))
  end
end

local stalls = kit.bars {
  id = "d2ma/stalls", title = "Cycles in which an SM can do nothing but wait for transfers (section 5.3)", unit = "share",
  config = machine, kernels = kernels.d2ma, mean = "arithmetic",
  series = {
    { name = "plain", size = plain.size, version = "plain", value = stalled "plain" },
    { name = "D2MA", size = d2ma.size, version = "d2ma", value = stalled "d2ma" },
  },
  paper = { mean = { plain = 0.07, D2MA = 0.01 } },
  headlines = function(v)
    return {
      { what = "plain", kind = "share", paper = 0.07, ours = v.mean.plain },
      { what = ("D2MA: less than 1 %% (%s)"):format(kit.shown(v.mean.D2MA, "%.3f")), kind = "holds",
        ours = v.mean.D2MA and v.mean.D2MA < 0.01 },
    }
  end,
}

-- Case studies ------------------------------------------------------------------------------------

--- Two CTAs on one SM. In the paper each tile of the plain version has an overhead for address
-- generation: so its addresses are
--- computed tile by tile, and not by the compiler before the loop.
local saxpy <const> = { { name = "SAXPY", workload = "saxpy", small = "n=4096", medium = "n=12288", size = "indexed=1",
  launches = "_VERSION$" } }

--- A computation takes two transfers.
local function per_computation(version_name)
  return function(r) return 2 * r.cycles / kit.sum(r, counters[version_name].count) end
end

local figure_12 = kit.bars {
  id = "d2ma/12", title = "Two CTAs of SAXPY on one SM: cycles of a transfer by part, and of a computation", unit = "cycles",
  config = machine, kernels = saxpy, set = { "sms=1" },
  series = {
    { name = "plain, AGEN", size = plain.size, value = function(r) return per_transfer(r, "plain", "agen") end },
    { name = "plain, MEM", size = plain.size, value = function(r) return per_transfer(r, "plain", "mem") end },
    { name = "D2MA, AGEN", size = d2ma.size, value = function(r) return per_transfer(r, "d2ma", "agen") end },
    { name = "D2MA, MEM", size = d2ma.size, value = function(r) return per_transfer(r, "d2ma", "mem") end },
    { name = "plain, computation", size = plain.size, value = per_computation "plain" },
    { name = "D2MA, computation", size = d2ma.size, value = per_computation "d2ma" },
  },
  headlines = function(v)
    local s = v.SAXPY
    return { { what = "computations in the same time", kind = "gain", paper = 2,
      ours = s["D2MA, computation"] and s["plain, computation"] / s["D2MA, computation"] }, { what = ("address generation takes less than a third (%s of %s cycles)"):format(
      kit.shown(s["D2MA, AGEN"], "%.0f"), kit.shown(s["plain, AGEN"], "%.0f")), kind = "holds", ours = s["D2MA, AGEN"] and s["D2MA, AGEN"] < s["plain, AGEN"] / 3 } }
  end,
}

local sgemv <const> = { { name = "SGEMV", workload = "sgemv", base = "transfers", launches = "_VERSION$" } }

-- In the paper all kernels have one buffer. CudaDMA documents that its transfer as one call loads
-- into registers before it waits for the buffer; the other version waits first.
local ahead, single = version("cudadma", "CudaDMA"), version("cudadma_single", "CudaDMA, buffer first")

local cudadma = kit.bars {
  id = "d2ma/cudadma", title = "SGEMV: transfer warps in software against the engine (section 5.4)", unit = "speed-up",
  config = machine, kernels = sgemv, base = plain, value = kit.speedup,
  series = { ahead, single, d2ma },
  paper = { SGEMV = { CudaDMA = 1.10, D2MA = 1.23 } },
  headlines = function(v)
    return {
      { what = "CudaDMA", kind = "gain", paper = 1.10, ours = v.SGEMV.CudaDMA },
      { what = "D2MA", kind = "gain", paper = 1.23, ours = v.SGEMV.D2MA },
    }
  end,
}

-- What the paper leaves open: how many elements are a part of the vector, and how many CTAs an SM
-- has.
local sgemv_sizes = {}
for _, part in ipairs { 32, 64, 128 } do
  for _, ctas in ipairs { 1, 2, 4, 8 } do
    sgemv_sizes[#sgemv_sizes + 1] = { name = ("parts of %d, CTAs: %d"):format(part, ctas), workload = "sgemv", base = "transfers",
      size = ("part=%d"):format(part), medium = ("m=%d"):format(15 * 128 * ctas), launches = "_VERSION$" }
  end
end

local sizes = kit.bars {
  id = "d2ma/sgemv", title = "SGEMV: elements of a part of the vector, and CTAs on an SM, over plain copying", unit = "speed-up",
  config = machine, kernels = sgemv_sizes, base = plain, value = kit.speedup, series = { ahead, single, d2ma },
}

return { figure_9, figure_10, figure_11, figure_12, stalls, cudadma, sizes }
