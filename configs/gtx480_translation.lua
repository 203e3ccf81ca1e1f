-- gtx480 with address translation: a TLB between each SM's load/store unit and its L1 for data, and one page walker, which reads
-- the page table through the crossbar and the L2.
--
--   [P]  J. Power, M. D. Hill, D. A. Wood, Supporting x86-64 address translation for 100s of GPU lanes, HPCA 2014: TLBs behind
--        the coalescers, a walker of 32 walks at a time for all, a page-walk cache, pages of 4 KiB, four levels
--   [W]  ours
--
-- Constants, textures and code are not translated [W]. Options: --set page=2MiB, --set second=512 for a second TLB of so many
-- entries that all share, --set walkers=1, --set network=true for TLBs behind the caches of each SM, which then work with
-- addresses as programs have them.
local ww = require "warpwright"
local base = require "configs.gtx480"

local options = { page = "4KiB", entries = 128, second = 0, walkers = 32, walk_cache = 1024, network = false } -- [P], sizes [W]
for name, value in pairs(base.options) do options[name] = value end

return ww.machine("gtx480_translation", options, function(m, o)
  -- [W] a quantum each; the crossbar's clock is twice as fast
  local far, to_crossbar = { latency = 16, depth = 64 }, { latency = 16, depth = 64, back = { latency = 32, depth = 64 } }

  --- What answers the TLBs, and joins what they ask for; it is wired to the last port of the crossbar.
  local function add_walker(xbar)
    local misses = m:Mux "tlb_misses" { up = o.sms }
    local walker = m:PageWalker "walker" { page = o.page, walkers = o.walkers, cache_entries = o.walk_cache }
    m:wire(walker.mem, xbar.up[o.sms], to_crossbar)
    if o.second == 0 then return m:wire(misses.down, walker.up) end
    local second = m:TLB "second_tlb" { page = o.page, entries = o.second, ways = 16, requests = 256 } -- [W]
    m:wire(misses.down, second.up)
    m:wire(second.walk, walker.up)
  end

  --- The TLB of an SM behind this port: its port onward.
  local function tlb_behind(port, sm)
    local tlb = m:TLB (("sm[%d].tlb"):format(sm)) { page = o.page, entries = o.entries }
    m:wire(port, tlb.up)
    m:wire(tlb.walk, ("tlb_misses.up[%d]"):format(sm), far)
    return tlb.down
  end

  local seen = {} -- m as the base's function sees it
  function seen.Crossbar(_, ...)
    local make = m:Crossbar(...)
    return function(params)
      params.up = params.up + 1
      local xbar = make(params)
      add_walker(xbar)
      return xbar
    end
  end
  function seen.wire(_, a, b, wire)
    local sm, port = tostring(a):match "^sm%[(%d+)%]%.(.*)$"
    if port == (o.network and "mux.down" or "lsu.mem") then a = tlb_behind(a, math.tointeger(sm)) end
    return m:wire(a, b, wire)
  end
  setmetatable(seen, { __index = function(_, key) return function(_, ...) return m[key](m, ...) end end })
  base.build(seen, o)
end)
