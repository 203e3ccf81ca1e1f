-- Kernels that execute forms on operands from buffers, a thread for each case, and store the results: operands and results
-- have 8 bytes each. Every other warp executes a form in two parts, under a predicate and under its inverse, so that lanes
-- that do not execute are there.
local kernels = {}

local PREFIX = { [1] = "p", [8] = "b", [16] = "h", [32] = "r", [64] = "d" }
local DECLARED = { [8] = ".b8 %%b<%d>", [16] = ".b16 %%h<%d>", [32] = ".b32 %%r<%d>", [64] = ".b64 %%d<%d>", [1] = ".pred %%p<%d>" }

local function register(bits, number) return ("%%%s%d"):format(PREFIX[bits], number) end

local SPACES <const> = [[
.shared .align 16 .b8 shared_places[4096];
.local .align 16 .b8 local_place[16];
.reg .b64 %place, %generic;
.reg .b128 %whole;
]]

-- How the thread's place is found in a space, and as a generic address.
local PLACES <const> = {
  global = "ld.param.u64 %place, [places];\nmad.wide.u32 %place, %index, 16, %place;\ncvta.global.u64 %generic, %place;",
  shared = "mov.u32 %flag, %tid.x;\nmov.u64 %place, shared_places;\nmad.wide.u32 %place, %flag, 16, %place;\n" ..
    "cvta.shared.u64 %generic, %place;",
  ["local"] = "mov.u64 %place, local_place;\ncvta.local.u64 %generic, %place;",
}

local HEAD = [[
.version 8.0
.target sm_90
.address_size 64
.visible .entry cases(%s)
{
.reg .b64 %%at, %%to;
.reg .b32 %%index, %%size, %%cta, %%flag;
.reg .pred %%beyond, %%some, %%parted;
%s
mov.u32 %%index, %%tid.x;
mov.u32 %%size, %%ntid.x;
mov.u32 %%cta, %%ctaid.x;
mad.lo.u32 %%index, %%cta, %%size, %%index;
ld.param.u32 %%size, [count];
setp.ge.u32 %%beyond, %%index, %%size;
@%%beyond bra DONE;
mul.lo.u32 %%flag, %%index, 0x9E3779B1;
shr.u32 %%flag, %%flag, 28;
setp.lt.u32 %%some, %%flag, 7;
and.b32 %%flag, %%index, 32;
setp.ne.u32 %%parted, %%flag, 0;
]]

local function load_source(lines, kind, name, param)
  lines[#lines + 1] = ("ld.param.u64 %%at, [%s];\nmad.wide.u32 %%at, %%index, 8, %%at;"):format(param)
  if kind.bits == 1 then
    lines[#lines + 1] = ("ld.global.b32 %%flag, [%%at];\nsetp.ne.u32 %s, %%flag, 0;"):format(name)
  else
    lines[#lines + 1] = ("ld.global.b%d %s, [%%at];"):format(kind.bits, name)
  end
end

local function store_result(lines, kind, name, param)
  lines[#lines + 1] = ("ld.param.u64 %%to, [%s];\nmad.wide.u32 %%to, %%index, 8, %%to;"):format(param)
  if kind.bits == 1 then
    lines[#lines + 1] = ("selp.u32 %%flag, 1, 0, %s;\nst.global.b32 [%%to], %%flag;"):format(name)
  else
    lines[#lines + 1] = ("st.global.b%d [%%to], %s;"):format(kind.bits, name)
  end
end

local function twice(text, parted) return parted and ("@%%some %s\n@!%%some %s"):format(text, text) or text end

--- The statement of a form: operands by its template.
local function statement(form, template, results, sources, parted)
  local operands
  if template then
    operands = template:gsub("([ds])(%d)", function(side, k) return (side == "d" and results or sources)[tonumber(k) + 1] end)
  else
    operands = results[1]
    for _, source in ipairs(sources) do operands = operands .. ", " .. source end
  end
  return twice(form:gsub("{.*}", "") .. " " .. operands .. ";", parted)
end

--- Extended-precision arithmetic: the carry comes in from the last source's lowest bit, and goes out to the second result.
local function carry_chain(form, results, sources)
  local lines = {}
  sources = { table.unpack(sources) }
  if form:find "^%a+c%." then
    lines[1] = ("and.b32 %%flag, %s, 1;\nadd.cc.u32 %%flag, %%flag, 0xffffffff;"):format(table.remove(sources))
  end
  lines[#lines + 1] = statement(form, nil, { results[1] }, sources)
  if results[2] then lines[#lines + 1] = ("addc.u32 %s, 0, 0;"):format(results[2]) end
  return table.concat(lines, "\n")
end

local function braced(list)
  return #list == 1 and list[1] or "{" .. table.concat(list, ", ") .. "}"
end

--- An access to the thread's place: what it held before, the access, and what it holds then.
local function access(form, kind, space, results, sources, bits, parted)
  local opcode_space = form:match "%.(global)" or form:match "%.(shared)" or form:match "%.(local)"
  local address = opcode_space and "%place" or "%generic"
  if kind == "load" or kind == "store" then
    local before = ("st.%s.b64 [%%place], %s;\nst.%s.b64 [%%place+8], %s;\n"):format(space, sources[1], space, sources[2])
    local wide = form:find "%.b128" -- in a register of its own
    if kind == "load" and wide then
      return before .. twice(("%s %%whole, [%s];"):format(form, address), parted) ..
        ("\nmov.b128 {%s, %s}, %%whole;"):format(results[1], results[2])
    elseif wide then
      return before .. ("mov.b128 %%whole, {%s, %s};\n"):format(sources[3], sources[4]) ..
        twice(("%s [%s], %%whole;"):format(form, address), parted) ..
        ("\nld.%s.b64 %s, [%%place];\nld.%s.b64 %s, [%%place+8];"):format(space, results[1], space, results[2])
    end
    if kind == "load" then return before .. twice(("%s %s, [%s];"):format(form, braced(results), address), parted) end
    return before .. twice(("%s [%s], %s;"):format(form, address, braced { table.unpack(sources, 3) }), parted) ..
      ("\nld.%s.b64 %s, [%%place];\nld.%s.b64 %s, [%%place+8];"):format(space, results[1], space, results[2])
  end
  if kind == "vatom" or kind == "vred" then
    local olds = kind == "vatom" and braced { table.unpack(results, 1, #results - 2) } .. ", " or ""
    return ("st.%s.b64 [%%place], %s;\nst.%s.b64 [%%place+8], %s;\n"):format(space, sources[1], space, sources[2]) ..
      twice(("%s %s[%s], %s;"):format(form, olds, address, braced { table.unpack(sources, 3) }), parted) ..
      ("\nld.%s.b64 %s, [%%place];\nld.%s.b64 %s, [%%place+8];"):format(space, results[#results - 1], space, results[#results])
  end
  local operands = { kind == "atom" and results[1] or nil }
  operands[#operands + 1] = "[" .. address .. "]"
  table.move(sources, 2, #sources, #operands + 1, operands)
  return ("st.%s.b%d [%%place], %s;\n"):format(space, bits, sources[1]) ..
    twice(("%s %s;"):format(form, table.concat(operands, ", ")), parted) ..
    ("\nld.%s.b%d %s, [%%place];"):format(space, bits, results[#results])
end

--- The text of a kernel for several forms of one signature. Every other form writes to the register of its first source,
--- where that is of the same width.
function kernels.text(list, results, sources, template)
  local params, used, lines = { ".param .u32 count" }, { [1] = 0, [8] = 0, [16] = 0, [32] = 0, [64] = 0 }, {}
  local function fresh(kind)
    used[kind.bits] = used[kind.bits] + 1
    return register(kind.bits, used[kind.bits])
  end
  local from, to = {}, {}
  local access_kind, space = (template or ""):match "^(%a+)@(%a+)$"
  if access_kind then
    params[2] = ".param .u64 places"
    lines[1] = PLACES[space]
  end
  for k, kind in ipairs(sources) do
    params[#params + 1] = ".param .u64 in" .. k
    if kind.name:find "^#" then
      from[k] = kind.name:sub(2)
    else
      from[k] = fresh(kind)
      load_source(lines, kind, from[k], "in" .. k)
    end
  end
  for k, kind in ipairs(results) do to[k] = fresh(kind) end
  for number = 1, #list do
    for k = 1, #results do params[#params + 1] = (".param .u64 out%d_%d"):format(number, k) end
  end
  local function add_forms(parted)
    for number, form in ipairs(list) do
      local operands = { table.unpack(from) }
      if number % 2 == 0 and results[1].bits == sources[1].bits and results[1].bits > 8 then
        lines[#lines + 1] = ("mov.b%d %s, %s;"):format(results[1].bits, to[1], from[1])
        operands[1] = to[1]
      end
      lines[#lines + 1] = access_kind and access(form, access_kind, space, to, operands, sources[1].bits, parted) or
        template == "carry" and carry_chain(form, to, operands) or statement(form, template, to, operands, parted)
      for k, kind in ipairs(results) do store_result(lines, kind, to[k], ("out%d_%d"):format(number, k)) end
    end
  end
  lines[#lines + 1] = "@%parted bra PARTED;"
  add_forms(false)
  lines[#lines + 1] = "bra DONE;\nPARTED:"
  add_forms(true)
  local declared = {}
  for _, bits in ipairs { 1, 8, 16, 32, 64 } do declared[#declared + 1] = ".reg " .. DECLARED[bits]:format(used[bits] + 1) .. ";" end
  if access_kind then declared[#declared + 1] = SPACES end
  return HEAD:format(table.concat(params, ", "), table.concat(declared, "\n")) .. table.concat(lines, "\n") .. "\nDONE:\nret;\n}\n"
end

return kernels
