-- fermi_40nm with HBM2 in place of GDDR5: what the memory's technology does to a result.
local ww = require "warpwright"
local fermi = require "configs.energy.fermi_40nm"

local t = { doc = "GF100 at 40 nm with HBM2" }
for name, number in pairs(fermi) do
  if type(number) == "table" then t[name] = number end
end

-- A row of HBM2 is 1 KiB; a machine with rows of another size opens as many as it does, whatever they hold.
t.dram_activate = { 909, "pJ", "published", "O'Connor: a row of 1 KiB" }
t.dram_bit = { 3.97 - 909 / 8192, "pJ/bit", "scaled", "O'Connor: 3.97 pJ/bit in all; less one ACTIVATE a row" }

return ww.technology "fermi_40nm_hbm2" (t)
