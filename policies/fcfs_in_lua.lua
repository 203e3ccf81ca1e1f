-- First come, first served in each bank, decided in Lua at every plan of a memory controller: the price of full freedom
-- there, and the proof that a policy can do what the built-in scheduler `fcfs` does. Its stats equal that one's byte for byte.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local fcfs = policy "fcfs_in_lua" { scope = "mc", doc = "First come, first served in each DRAM bank, as a Lua function" }

function fcfs:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs" } end
end

--- Which of these requests, bit 0 for the oldest, may be served? Here the oldest of each bank.
function fcfs:pick(queue, requests)
  local heads, rest = 0, requests
  while rest ~= 0 do
    local _, _, _, bank = self.mc:request(queue, bits.lowest(rest))
    local of_bank = self.mc:of_bank(queue, bank)
    heads, rest = heads | of_bank & -of_bank, rest & ~of_bank
  end
  heads = heads & requests
  return heads ~= 0 and heads or nil
end

return fcfs
