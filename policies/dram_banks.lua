-- Decides nothing: counts the requests and row hits of each DRAM bank, beside any other policy.
local policy = require "warpwright.policy"

local most_banks <const> = 32

local parts = {}
for bank = 0, most_banks - 1 do
  parts[bank + 1] = { class = "BankCounters", name = ("bank[%d]"):format(bank), of = "MemoryController", bank = bank,
    where = function(_, controller) return bank < controller.banks end }
end

return policy "dram_banks" {
  doc = "Decides nothing: requests, row hits and activates of each bank of the memory controllers, as mc[0].bank[0] and so on",
  parts = parts,
}
