-- The GTX 480 of the Mascar paper (Sethia, Jamshidi, Mahlke, HPCA 2015): "the default simulator parameters for the GTX 480"
-- of GPGPU-Sim 3.2.2, and Table I.
--
--   [T]  Table I of the paper
--   [L]  what GPGPU-Sim 3.2.2 prints as its configuration: public logs of runs on its GTX 480
--   [N]  the GTX 480's network configuration of that time, config_fermi_islip.icnt
--   [W]  ours: a choice that none of them makes
--
-- SMs, constant, texture and instruction caches, clocks (700 MHz for core, network and L2, 924 MHz for DRAM), 12 L2 slices of
-- 64 KB and 8 ways, the address map and DRAM timings of [L] are those of version 4.2, as gtx480_gpgpusim4 has them. What differs
-- is below. [L] has no option for the latency of shared memory, which stays as it is there.
local ww = require "warpwright"

local machine = ww.variant("gtx480_mascar", "gtx480_gpgpusim4", function(m)
  m:quantum(16) -- [W] core cycles; the least latency of the wires between SMs, network and L2
  m:change("sm[*].l1d", {
    size = "32KiB", ways = 4, mshrs = 64, -- [T]
    -- [L] Hashed (H), which is Fermi's index as [T]'s source measured it (Nugteren et al., HPCA 2014): of 64 sets, address
    -- bits 11:7 with 13, 14, 15, 17, 19 folded in, and bit 12. Rows of 8 KiB do not fall into one set.
    index = "xor", index_masks = "0x2080,0x4100,0x8200,0x20400,0x80800,0x1000",
    latency = 1,                          -- [L] has no option for it
    keeps_lines = true,                   -- [L] not flushed between kernels
  })
  -- [W] [L] has 2 KiB. Which loops fit there is a matter of the compiler's code, and ours is not the paper's: those of
  -- histo-1, particle and sad-1 do not, and their code would come from the L2 round after round. Here all fits, as in gtx480.
  m:change("sm[*]", { code_bytes = "16KiB" })
  m:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { depth = 2 }) -- tags first: a reservation fail is known when it happens
  m:change("xbar", {
    flit = "32B", output_buffer = 8,      -- [N]
    response_part = 0, acknowledgements = "write", -- [L] lines without sectors: a packet each
  })
  m:change("l2[*]", {
    sectors = 1, write_miss = "fetch",    -- [L] lines without sectors, fetched by a write that misses (W)
    mshrs = 32,                           -- [T] 64 per partition, which [L] has as well: two slices
    rop_delay = 120,                      -- [L]; with the wires [T]'s 200 core cycles from load to use
    host_copies = false,                  -- [L] has no option for it
  })
  m:change("mc[*]", { queue_entries = 32 })               -- [T]
  -- A quantum on each wire [W], and the 8 places of the queues at its end [L] [N].
  local wire = { latency = 16, depth = 24 }
  local both_ways = { latency = wire.latency, depth = wire.depth, back = wire }
  m:change("dispatcher.sm[*] -> sm[*].dispatch", { latency = 16 })
  m:change("sm[*].mux.down -> xbar.up[*]", both_ways)
  m:change("xbar.down[*] -> l2[*].cpu", both_ways)
  -- 440 core cycles from load to use, where the row is open [T]. 16 requests in the controller and 116 answers are what a
  -- partition of [L] has under way; its two slices share them here.
  m:change("l2[*].mem -> mc[*].cpu[*]", { latency = 221, depth = 66, back = { depth = 8 } })
end)

machine.reference = { ["latency.l2"] = 200, ["latency.dram_sequential"] = 440 }
return machine
