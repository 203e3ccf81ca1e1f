-- gtx480 with objects whose classes are written in Lua (configs/classes) in three of its wires: a victim buffer behind each
-- SM's L1 for data, a traffic shaper behind all caches of an SM, a link compressor in front of each memory controller. An
-- option leaves one out: --set shapers=false.
local ww = require "warpwright"
local base = require "configs.gtx480"

local options = { victim_buffers = true, shapers = true, compressors = true }
for name, value in pairs(base.options) do options[name] = value end

return ww.machine("gtx480_lua_classes", options, function(m, o)
  for _, class in ipairs { "victim_buffer", "traffic_shaper", "link_compressor" } do m:use(class) end

  --- What belongs into the wire from this port, or nil.
  local function made_for(from)
    local object, index = tostring(from):match "^(.*)%.mem$", tostring(from):match "%[(%d+)%]"
    if o.victim_buffers and object and object:match "%.l1d$" then return m:VictimBuffer (object .. ".victims") {} end
    if o.compressors and object and object:match "^l2%[" then return m:LinkCompressor ("squeeze", index) {} end
    if o.shapers and tostring(from):match "%.mux%.down$" then return m:TrafficShaper (("sm[%d].shaper"):format(index)) {} end
  end

  local seen = {} -- m as the base's function sees it
  function seen.wire(_, a, b, wire)
    local between = made_for(a)
    if not between then return m:wire(a, b, wire) end
    m:wire(a, between.up)
    m:wire(between.down, b, wire)
  end
  setmetatable(seen, { __index = function(_, key) return function(_, ...) return m[key](m, ...) end end })
  base.build(seen, o)
end)
