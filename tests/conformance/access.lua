-- Forms of loads, stores and atomics: the decoder prints these as families, not as a list.
local TYPES <const> = { "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128" }
local SPACES <const> = { "", ".global", ".shared", ".shared::cta", ".local" }
local LOAD_MODIFIERS <const> = {
  ".weak%s", ".volatile%s", ".relaxed.gpu%s", ".acquire.sys%s", "%s.ca", "%s.cg", "%s.cs", "%s.lu", "%s.cv", "%s.nc",
  "%s.L1::evict_last", "%s.L1::no_allocate.L2::128B", "%s.nc.L1::evict_first.L2::evict_last.L2::64B", ".mmio.relaxed.sys%s",
}
local STORE_MODIFIERS <const> = {
  ".weak%s", ".volatile%s", ".relaxed.cta%s", ".release.gpu%s", "%s.wb", "%s.cg", "%s.cs", "%s.wt",
  "%s.L1::evict_unchanged", "%s.L1::evict_normal.L2::evict_first", ".mmio.relaxed.sys%s",
}
-- The types of each operation, by the ISA.
local ATOMICS <const> = {
  { "add", "u32", "s32", "u64", "f32", "f64" }, { "min", "u32", "s32", "u64", "s64" }, { "max", "u32", "s32", "u64", "s64" },
  { "exch", "b32", "b64" }, { "cas", "b16", "b32", "b64" },
  { "add.noftz", "f16", "bf16", "f16x2", "bf16x2" }, { "inc", "u32" }, { "dec", "u32" }, { "and", "b32", "b64" },
  { "or", "b32", "b64" }, { "xor", "b32", "b64" },
}

local EXTREMES <const> = { "add.noftz", "min.noftz", "max.noftz" }
local VECTORS <const> = {
  { type = "f32", counts = { 2, 4 }, operations = { "add" } },
  { type = "f16", counts = { 2, 4, 8 }, operations = EXTREMES }, { type = "bf16", counts = { 2, 4, 8 }, operations = EXTREMES },
  { type = "f16x2", counts = { 2, 4 }, operations = EXTREMES }, { type = "bf16x2", counts = { 2, 4 }, operations = EXTREMES },
}

local function bytes_of(type) return tonumber(type:match "%d+") // 8 end

local function add_plain(add, opcode, modifiers)
  for _, space in ipairs(SPACES) do
    for _, type in ipairs(TYPES) do
      for _, vector in ipairs { "", ".v2", ".v4" } do
        local count = tonumber(vector:match "%d") or 1
        if count * bytes_of(type) <= 16 then add(opcode .. space .. vector .. "." .. type) end
      end
    end
  end
  for _, modifier in ipairs(modifiers) do
    add(opcode .. modifier:format ".global" .. ".u32")
    add(opcode .. modifier:format ".global" .. ".v4.s8")
  end
end

local function add_atomics(add, opcode)
  for _, space in ipairs { "", ".global", ".shared", ".shared::cta" } do
    for _, operation in ipairs(ATOMICS) do
      for k = 2, #operation do
        if opcode == "atom" or operation[1] ~= "exch" and operation[1] ~= "cas" then
          add(("%s%s.%s.%s"):format(opcode, space, operation[1], operation[k]))
        end
      end
    end
  end
  for _, vector in ipairs(VECTORS) do
    for _, operation in ipairs(vector.operations) do
      for _, count in ipairs(vector.counts) do
        for _, space in ipairs { "", ".global" } do
          add(("%s%s.%s.v%d.%s"):format(opcode, space, operation, count, vector.type))
        end
      end
    end
  end
  for _, order in ipairs { "relaxed.cta", "acquire.gpu", "release.sys", "acq_rel.gpu" } do
    if opcode == "atom" or not order:find "acq" then add(("%s.%s.global.add.u32"):format(opcode, order)) end
  end
end

--- Calls `add` with each form.
return function(add)
  add_plain(add, "ld", LOAD_MODIFIERS)
  for _, type in ipairs(TYPES) do add("ldu.global." .. type) end
  add "ldu.v4.f32"
  add_plain(add, "st", STORE_MODIFIERS)
  add_atomics(add, "atom")
  add_atomics(add, "red")
end
