-- --fast-forward launch=7,cta=0.4,warm=0.2: where timing begins, and from where on the caches see what has none.
local names = require "warpwright.names"

local fast_forward = {}

local function refuse(text)
  names.expected("fast_forward", "launch=N, the launch from which on there is timing, from 0; cta=SHARE, of its CTAs, those "
    .. "before the first with timing, 0 to 1; warm=N, so many launches before that leave lines in the caches; or several "
    .. "with commas", text)
end

local kinds <const> = { launch = math.tointeger, cta = tonumber, warm = tonumber }

--- The launch in which timing begins, the share of its CTAs that end before, and how many launches before that warm the caches,
-- with fractions; nil for a text without any.
function fast_forward.read(text)
  if text == nil then return nil end
  local given = {}
  if type(text) ~= "string" or text == "" then refuse(text) end
  for word in (text .. ","):gmatch "([^,]*)," do
    local name, value = word:match "^(%l+)=([%d.]+)$"
    local number = kinds[name] and not given[name] and tonumber(value)
    given[name or text] = number and kinds[name](number) or refuse(text)
  end
  local share = given.cta or 0.0
  if share > 1 then refuse(text) end
  return given.launch or 0, share + 0.0, (given.warm or math.huge) + 0.0
end

return fast_forward
