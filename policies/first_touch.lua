-- First-touch pages on a GPU of several modules (A. Arunkumar et al., "MCM-GPU: Multi-Chip-Module GPUs for Continued
-- Performance Scalability", ISCA 2017, section 5.3): a page lies in the memory of the module whose SM asks for it first. With
-- `distributed_ctas`, by which neighbouring CTAs share a module, most requests stay there.
--
-- A module is a run of SMs and a run of channels, by their numbers. The paper spreads the lines of a page over the channels of
-- its module; here a page has one channel, and the pages of a module take its channels in turn.
local policy = require "warpwright.policy"

local first_touch = policy "first_touch" {
  doc = "Pages lie in the memory channels of the module whose SM asks for them first",
  scope = "AddressMap",
  params = {
    page = { 4096, min = 128, doc = "Bytes of a page, a power of two" },
    sms = { 5, min = 1, doc = "SMs of a module" },
    channels = { 2, min = 1, doc = "Memory channels of a module" },
  },
  counters = { placed = "Pages" },
}

function first_touch:configure(class, _, params)
  if class ~= "AddressMap" then return nil end
  local channels, most = self.params.channels, math.tointeger(params.channels) -- which may be a text, of --set
  if most and channels > most then
    error(("channels: expected up to %d, as many as the machine has, got %d"):format(most, channels), 0)
  end
  return { page_size = self.params.page }
end

--- `pages`, by module from 1: how many it has.
function first_touch:start() self.state.pages = {} end

function first_touch:place_page(_, sm, _, _, _, channels)
  local own, pages = self.params.channels, self.state.pages
  local module = sm // self.params.sms % math.max(1, channels // own)
  for other = #pages + 1, module + 1 do pages[other] = 0 end
  local channel = module * own + pages[module + 1] % own
  pages[module + 1] = pages[module + 1] + 1
  self:count "placed"
  return channel % channels
end

return first_touch
