-- Special registers, addresses of all spaces, and atomics of all threads on one place.
local ww = require "warpwright"

local special = {}

local HEAD <const> = ".version 8.0\n.target sm_90\n.address_size 64\n"

-- Special registers of three dimensions: what a thread of a launch has.
local VECTORS <const> = {
  tid = function(t) return t.tid end, ntid = function(t) return t.block end,
  ctaid = function(t) return t.cta end, nctaid = function(t) return t.grid end,
}
local ONES <const> = 0xffffffff
local SCALARS <const> = {
  { "laneid", function(t) return t.lane end },
  { "lanemask_eq", function(t) return 1 << t.lane end },
  { "lanemask_lt", function(t) return (1 << t.lane) - 1 end },
  { "lanemask_le", function(t) return (2 << t.lane) - 1 & ONES end },
  { "lanemask_gt", function(t) return ~((2 << t.lane) - 1) & ONES end },
  { "lanemask_ge", function(t) return ~((1 << t.lane) - 1) & ONES end },
  -- a number of its own for each warp of a CTA
  { "warpid", function(t, value)
    local warp = t.number // 32
    t.owners[value] = t.owners[value] or warp
    return t.owners[value] == warp and value or "another one"
  end },
  { "nwarpid", function(t, value) return value >= (t.threads + 31) // 32 and value or "as many as warps" end },
  { "smid", function(t, value) return value < t.sms and value or "one of the SMs" end },
  { "nsmid", function(t) return t.sms end },
  { "dynamic_smem_size", function() return 512 end },
}

--- The names in a fixed order, each with a function of a thread.
local function registers()
  local list = {}
  for _, name in ipairs { "tid", "ntid", "ctaid", "nctaid" } do
    for k, letter in ipairs { "x", "y", "z" } do
      list[#list + 1] = { name .. "." .. letter, function(t) return VECTORS[name](t)[k] end }
    end
  end
  return table.move(SCALARS, 1, #SCALARS, #list + 1, list)
end

local function register_kernel(list)
  local lines = {
    HEAD .. ".visible .entry special(.param .u64 out)\n{\n.reg .b64 %to;\n.reg .b32 %r<9>;",
    "mov.u32 %r1, %ctaid.z;\nmov.u32 %r2, %nctaid.y;\nmov.u32 %r3, %ctaid.y;\nmad.lo.u32 %r1, %r1, %r2, %r3;",
    "mov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r1, %r1, %r2, %r3;",
    "mov.u32 %r2, %ntid.z;\nmov.u32 %r3, %tid.z;\nmad.lo.u32 %r1, %r1, %r2, %r3;",
    "mov.u32 %r2, %ntid.y;\nmov.u32 %r3, %tid.y;\nmad.lo.u32 %r1, %r1, %r2, %r3;",
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r1, %r1, %r2, %r3;",
    ("ld.param.u64 %%to, [out];\nmad.wide.u32 %%to, %%r1, %d, %%to;"):format(4 * #list),
  }
  for k, entry in ipairs(list) do
    lines[#lines + 1] = ("mov.u32 %%r4, %%%s;\nst.global.u32 [%%to+%d], %%r4;"):format(entry[1], 4 * (k - 1))
  end
  return table.concat(lines, "\n") .. "\nret;\n}\n"
end

local function coordinates(number, extent)
  return { number % extent[1], number // extent[1] % extent[2], number // extent[1] // extent[2] }
end

--- Calls found(register, cases, mismatches, text) for each, on a GPU of so many SMs.
function special.registers(gpu, sms, found)
  local list = registers()
  local grid, block = { 3, 2, 4 }, { 7, 5, 3 }
  local threads, ctas = block[1] * block[2] * block[3], grid[1] * grid[2] * grid[3]
  local output = gpu:alloc(threads * ctas * 4 * #list)
  local kernels = gpu:load { text = register_kernel(list), name = "special.ptx" }
  gpu:launch(kernels.special, { grid = grid, block = block, shared = 512, args = { output } })
  local got = gpu:download("u32", output, threads * ctas * #list)
  gpu:free(output)
  for k, entry in ipairs(list) do
    local differ, text, owners = 0, nil, nil
    for i = 0, threads * ctas - 1 do
      if i % threads == 0 then owners = {} end
      local number, value = i % threads, got[i * #list + k - 1]
      local thread = {
        grid = grid, block = block, cta = coordinates(i // threads, grid), tid = coordinates(number, block), number = number,
        lane = number % 32, threads = threads, owners = owners, sms = sms,
      }
      local want = entry[2](thread, value)
      if want ~= value then
        differ = differ + 1
        text = text or ("thread %d of CTA %d: expected %s, got %s"):format(number, i // threads, want, value)
      end
    end
    found("%" .. entry[1], threads * ctas, differ, text)
  end
end

local ADDRESSES <const> = HEAD .. [[
.global .align 8 .b8 in_global[16];
.shared .align 8 .b8 in_shared[2048];
.visible .entry addresses(.param .u64 out)
{
.local .align 8 .b8 in_local[32];
.reg .b64 %at, %generic, %back, %to, %value;
.reg .b32 %index, %flag;
.reg .pred %p;
mov.u32 %index, %tid.x;
ld.param.u64 %to, [out];
mad.wide.u32 %to, %index, 192, %to;
BODY
ret;
}
]]

-- What is stored of each space: whether cvta and back gives the address, what a generic load sees, and whose isspacep it is.
local SPACE_BODY <const> = [[
mov.u64 %at, in_SPACE;
OFFSET
cvt.u64.u32 %value, %index;
add.u64 %value, %value, NUMBER;
st.SPACE.u64 [%at], %value;
cvta.SPACE.u64 %generic, %at;
cvta.to.SPACE.u64 %back, %generic;
setp.eq.u64 %p, %back, %at;
selp.u32 %flag, 1, 0, %p;
st.global.u32 [%to+PLACE], %flag;
ld.u64 %value, [%generic];
st.global.u32 [%to+PLACE+4], %value;
isspacep.global %p, %generic;
selp.u32 %flag, 1, 0, %p;
st.global.u32 [%to+PLACE+8], %flag;
isspacep.shared %p, %generic;
selp.u32 %flag, 1, 0, %p;
st.global.u32 [%to+PLACE+12], %flag;
isspacep.shared::cta %p, %generic;
selp.u32 %flag, 1, 0, %p;
st.global.u32 [%to+PLACE+16], %flag;
isspacep.local %p, %generic;
selp.u32 %flag, 1, 0, %p;
st.global.u32 [%to+PLACE+20], %flag;
]]
local OWN_PLACES <const> = {
  global = "", shared = "mad.wide.u32 %at, %index, 8, %at;", ["local"] = "and.b32 %flag, %index, 3;\nmad.wide.u32 %at, %flag, 8, %at;",
}

local THREADS <const> = 256
local ANSWERS <const> = { global = { 1, 0, 0, 0 }, shared = { 0, 1, 1, 0 }, ["local"] = { 0, 0, 0, 1 } }

--- Forms that special.addresses compares.
special.forms = {}
for _, space in ipairs { "global", "shared", "shared::cta", "local", "const" } do
  special.forms["cvta." .. space .. ".u64"], special.forms["cvta.to." .. space .. ".u64"] = true, true
  special.forms["isspacep." .. space] = true
end

function special.addresses(gpu, found)
  local body = {}
  local spaces = { "global", "shared", "local" }
  for k, space in ipairs(spaces) do
    body[k] = SPACE_BODY:gsub("SPACE", space):gsub("OFFSET", (OWN_PLACES[space]:gsub("%%", "%%%%"))):gsub("NUMBER", k * 1000):gsub(
      "PLACE", 24 * (k - 1))
  end
  local text = ADDRESSES:gsub("BODY", (table.concat(body):gsub("%%", "%%%%")))
  local kernels = gpu:load { text = text, name = "addresses.ptx" }
  local output = gpu:alloc(THREADS * 192)
  gpu:launch(kernels.addresses, { grid = 1, block = THREADS, args = { output } })
  local got = gpu:download("u32", output, THREADS * 48)
  gpu:free(output)
  for k, space in ipairs(spaces) do
    local differ, first = 0, nil
    for thread = 0, THREADS - 1 do
      -- All threads store to the place in global memory: any of their values is right.
      local seen = got[thread * 48 + 6 * (k - 1) + 1] - k * 1000
      local want = { 1, got[thread * 48 + 6 * (k - 1) + 1], table.unpack(ANSWERS[space]) }
      if space == "global" and (seen < 0 or seen >= THREADS) or space ~= "global" and seen ~= thread then want[2] = thread + k * 1000 end
      for i = 1, 6 do
        local value = got[thread * 48 + 6 * (k - 1) + i - 1]
        if value ~= want[i] then
          differ = differ + 1
          first = first or ("thread %d, answer %d: expected %d, got %d"):format(thread, i, want[i], value)
          break
        end
      end
    end
    found("cvta, isspacep of " .. space, THREADS, differ, first)
  end
end

local ONE_PLACE <const> = HEAD .. [[
.visible .entry one_place(.param .u64 values, .param .u64 out)
{
.reg .b64 %at, %from, %value;
.reg .b32 %index, %cta, %size;
mov.u32 %index, %tid.x;
mov.u32 %size, %ntid.x;
mov.u32 %cta, %ctaid.x;
mad.lo.u32 %index, %cta, %size, %index;
ld.param.u64 %from, [values];
mad.wide.u32 %from, %index, 8, %from;
ld.global.u64 %value, [%from];
ld.param.u64 %at, [out];
STATEMENT
ret;
}
]]

local function signed(bits) return function(x) return bits == 32 and (x ~ 0x80000000) - 0x80000000 or x end end
local function lesser(bits, is_signed)
  local sign = signed(bits)
  return function(a, b)
    if is_signed then return sign(a) < sign(b) end
    return math.ult(a, b)
  end
end

--- What all threads together leave, whatever their order.
local function together(operation, type)
  local bits = tonumber(type:match "%d+")
  local less = lesser(bits, type:sub(1, 1) == "s")
  local steps = {
    add = function(a, b) return a + b end, ["and"] = function(a, b) return a & b end, ["or"] = function(a, b) return a | b end,
    xor = function(a, b) return a ~ b end, min = function(a, b) return less(a, b) and a or b end,
    max = function(a, b) return less(a, b) and b or a end,
  }
  return steps[operation], bits
end

local SHARED_BY_ALL <const> = {
  { "add", "u32", "s32", "u64" }, { "min", "u32", "s32", "u64", "s64" }, { "max", "u32", "s32", "u64", "s64" },
  { "and", "b32", "b64" }, { "or", "b32", "b64" }, { "xor", "b32", "b64" },
}

local function one_place(gpu, opcode, operation, type, seed, found)
  local rng, values = ww.rng(seed), {}
  local step, bits = together(operation, type)
  local mask = bits == 32 and 0xffffffff or -1
  local ctas = 5
  for i = 1, ctas * THREADS do values[i] = rng:int(math.mininteger, math.maxinteger) & mask end
  if operation == "and" or operation == "or" then
    for i, value in ipairs(values) do values[i] = operation == "and" and value | 0x7f7f0ff0 << rng:int(0, 31) & mask or value & 0x11 << i % 60 & mask end
  end
  local register = bits == 32 and "%index" or "%value"
  local statement = (bits == 32 and "cvt.u32.u64 %index, %value;\n" or "") ..
    (opcode == "atom" and ("atom.global.%s.%s %s, [%%at], %s;"):format(operation, type, register, register) or
      ("red.global.%s.%s [%%at], %s;"):format(operation, type, register))
  local kernels = gpu:load { text = (ONE_PLACE:gsub("STATEMENT", (statement:gsub("%%", "%%%%")))), name = "one_place.ptx" }
  local input, output = gpu:upload(ww.array_from("u64", values)), gpu:upload(ww.array_from("u64", { values[1] }))
  gpu:launch(kernels.one_place, { grid = ctas, block = THREADS, args = { input, output } })
  local got, want = gpu:read("u64", output), values[1]
  for _, value in ipairs(values) do want = step(want, value) & mask end
  gpu:free(input)
  gpu:free(output)
  found(("%s.%s.%s"):format(opcode, operation, type), ctas * THREADS, got == want and 0 or 1, ("expected %x, got %x"):format(want, got))
end

function special.atomics(gpu, seed, found)
  for _, opcode in ipairs { "atom", "red" } do
    for _, operation in ipairs(SHARED_BY_ALL) do
      for k = 2, #operation do one_place(gpu, opcode, operation[1], operation[k], seed, found) end
    end
  end
end

return special
