-- Which launches can stand for one that is like them: of its kernel and grid, with about as many instructions, that ask for about the same.
local launch_profile = require "warpwright.launch_profile"
local measures = require "warpwright.measures"

local like_launches = {}

local ALIKE <const> = 0.05 -- instructions of launches of a kernel
local MEMBERS <const> = 3 -- that must agree: two small levels of a graph often do, and the next one takes a third more
local AGREE <const> = 0.02 -- cycles per instruction of these
local LEAST_PART <const> = 0.02 -- these of all instructions so far: less is not worth the state that launches behind one without timing lack

like_launches.MEMBERS, like_launches.LEAST_PART = MEMBERS, LEAST_PART

local function is_near(a, b, by) return math.abs(a - b) <= by * math.max(math.abs(a), math.abs(b)) end

--- The last measured launches of the kernel that have about as many instructions, if they agree in what these take, and the launch
-- asks for nothing beyond what they ask for that may matter. `look`: at the end of the launch; `all`: the instructions of all launches
-- so far. Returns them, and the launch's factors by what it asks for beyond that; or nil.
function like_launches.members_for(known, offer, look, all)
  local members, rates, own, least, most = {}, {}, 0, math.huge, 0
  for i = #known, 1, -1 do
    if #members < MEMBERS and known[i].rates and is_near(known[i].instructions, look[1], ALIKE) then
      local cycles, issued = measures.header(measures.total(known[i]))
      own, least, most = own + issued, math.min(least, cycles / issued), math.max(most, cycles / issued)
      table.insert(members, 1, known[i])
      table.insert(rates, known[i].rates)
    end
  end
  if #members < MEMBERS or own < LEAST_PART * all or not is_near(least, most, AGREE) then return nil end
  local factors, is_within = launch_profile.factors_beyond(launch_profile.rates_of_all(look), launch_profile.ranges(rates), least, offer.sms, AGREE)
  if is_within then return members, factors end
end

return like_launches
