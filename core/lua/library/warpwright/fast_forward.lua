-- --fast-forward launch=7,cta=0.4: where timing begins.
local names = require "warpwright.names"

local fast_forward = {}

local function refuse(text)
  names.expected("fast_forward", "launch=N, the launch from which on there is timing, from 0; cta=SHARE, of its CTAs, those "
    .. "before the first with timing, 0 to 1; or both with a comma", text)
end

--- The launch in which timing begins, and the share of its CTAs that end before; nil for a text without either.
function fast_forward.read(text)
  if text == nil then return nil end
  local given = {}
  if type(text) ~= "string" or text == "" then refuse(text) end
  for word in (text .. ","):gmatch "([^,]*)," do
    local name, value = word:match "^(%l+)=([%d.]+)$"
    if (name ~= "launch" and name ~= "cta") or given[name] then refuse(text) end
    given[name] = name == "launch" and math.tointeger(tonumber(value)) or name == "cta" and tonumber(value) or refuse(text)
  end
  local share = given.cta or 0.0
  if share > 1 then refuse(text) end
  return given.launch or 0, share + 0.0
end

return fast_forward
