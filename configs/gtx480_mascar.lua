-- The GTX 480 of the Mascar paper (Sethia, Jamshidi, Mahlke, HPCA 2015), Table I: gtx480 with a larger L1, more MSHRs, and
-- the latencies of L2 and DRAM that the table gives, which are those of a dependent load.
local ww = require "warpwright"

local machine = ww.variant("gtx480_mascar", "gtx480", function(m)
  -- Tags first: the load/store unit learns of a reservation fail when it happens, as in the paper, and not 32 accesses
  -- later. Data comes as late as in gtx480: what there lies in front of the tags is here the way back.
  -- The table cites the work that measured Fermi's set index for this cache (Nugteren et al., HPCA 2014): of 64 sets, address
  -- bits 11:7 with 13, 14, 15, 17, 19 folded in, and bit 12. Rows of 8 KiB do not fall into one set.
  m:change("sm[*].l1d", {
    size = "32KiB", ways = 4, mshrs = 64, latency = 1,
    index = "xor", index_masks = "0x2080,0x4100,0x8200,0x20400,0x80800,0x1000",
  })
  m:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { depth = 2, back = { latency = 32, depth = 64 } })
  m:change("l2[*]", { ways = 8, mshrs = 64, rop_delay = 89 })   -- 200 core cycles from load to use
  m:change("mc[*]", { queue_entries = 32, latency = 255 })      -- 440 core cycles, a row hit
end)

machine.reference = { ["latency.l1"] = 40, ["latency.l2"] = 200, ["latency.dram_sequential"] = 440 }
return machine
