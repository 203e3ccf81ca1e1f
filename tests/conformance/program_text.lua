-- The PTX of a random program.
local programs = require "tests.conformance.programs"

local HEAD <const> = [[
.version 8.0
.target sm_90
.address_size 64
]]

local function operand(value) return type(value) == "table" and tostring(value[1]) or "%r" .. value end

local function guard_of(o) return o.guard and ("@%s%%p%d "):format(o.guard[2] and "!" or "", o.guard[1]) or "" end

local TYPES <const> = { ["mul.lo"] = "u32", add = "u32", sub = "u32", min = "u32", max = "u32", shr = "u32" }

local statements = {}

function statements.set(o)
  return ("%s.%s %%r%d, %%r%d, %s;"):format(o.op, TYPES[o.op] or "b32", o.to, o.a, operand(o.b))
end
function statements.setp(o) return ("setp.%s.u32 %%p%d, %%r%d, %s;"):format(o.op, o.to, o.a, operand(o.b)) end
function statements.select(o) return ("selp.b32 %%r%d, %%r%d, %%r%d, %%p%d;"):format(o.to, o.a, o.b, o.predicate) end
function statements.label(o) return o.name .. ":" end
statements["goto"] = function(o) return ("bra %s;"):format(o.name) end
function statements.switch(o, number)
  return ("T%d: .branchtargets %s;\nrem.u32 %%t0, %%r%d, %d;\nbrx.idx %%t0, T%d;"):format(number, table.concat(o.names, ", "), o.a,
    #o.names, number)
end
-- A function returns at its end, where its result is.
function statements.ret(_, _, _, f) return f.name == "kernel" and "ret;" or "bra END;" end
function statements.exit() return "exit;" end
function statements.store(o) return ("st.global.u32 [%%out+%d], %%r%d;"):format(4 * o.slot, o.a) end
function statements.load(o, _, guard)
  return ("rem.u32 %%t0, %%r%d, %d;\nmad.wide.u32 %%t1, %%t0, 4, %%table;\n%sld.global.u32 %%r%d, [%%t1];"):format(o.a,
    programs.TABLE, guard, o.to), true
end
function statements.share(o) return ("st.shared.u32 [%%place], %%r%d;"):format(o.a) end
function statements.fetch(o)
  return ("add.u32 %%t0, %%thread, %d;\nrem.u32 %%t0, %%t0, %%threads;\nshl.b32 %%t0, %%t0, 2;\nmov.u32 %%t2, exchange;\n"):format(
    o.distance) .. ("add.u32 %%t0, %%t0, %%t2;\nld.shared.u32 %%r%d, [%%t0];"):format(o.to)
end
function statements.barrier() return "bar.sync 0;" end
local function call_text(o, guard, target, prototype)
  local lines = {
    "{\n.param .b32 from;\n.param .b64 table;\n.param .b32 to;", ("st.param.b32 [from], %%r%d;"):format(o.a),
    "st.param.b64 [table], %table;", ("%scall (to), %s, (from, table)%s;"):format(guard, target, prototype),
    ("ld.param.b32 %%t0, [to];\n%smov.b32 %%r%d, %%t0;\n}"):format(guard, o.to),
  }
  return table.concat(lines, "\n"), true
end

function statements.call(o, _, guard) return call_text(o, guard, o.name, "") end
function statements.choose(o, number)
  local text = call_text(o, "", "%t1", ", C" .. number)
  return ("mov.u64 %%t1, %s;\nmov.u64 %%t3, %s;\nselp.b64 %%t1, %%t1, %%t3, %%p%d;\n"):format(o.names[1], o.names[2], o.predicate) ..
    ("C%d: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"):format(number) .. text
end

local function registers(f)
  return (".reg .b32 %%r<%d>;\n.reg .pred %%p<%d>;\n.reg .b32 %%t0, %%t2, %%threads, %%thread, %%place;\n" ..
    ".reg .b64 %%t1, %%t3, %%out, %%table;"):format(f.registers, programs.PREDICATES)
end

--- All registers from the first one, as the interpreter does.
local function beginning(f, lines)
  for k = 1, f.registers - 1 do
    lines[#lines + 1] = ("mul.lo.u32 %%r%d, %%r0, %d;\nxor.b32 %%r%d, %%r%d, %d;"):format(k, 2 * k + 3, k, k, k)
  end
  for k = 0, programs.PREDICATES - 1 do
    lines[#lines + 1] = ("and.b32 %%t0, %%r0, %d;\nsetp.ne.u32 %%p%d, %%t0, 0;"):format(1 << k, k)
  end
end

local function body(f, lines)
  for number, o in ipairs(f.list) do
    local guard = guard_of(o)
    local text, guarded = statements[o.kind](o, number, guard, f)
    lines[#lines + 1] = guarded and text or guard .. text
  end
end

local function function_text(f)
  local lines = {
    (".func (.param .b32 result) %s(.param .b32 x, .param .b64 values)\n{"):format(f.name), registers(f),
    "ld.param.b32 %r0, [x];\nld.param.b64 %table, [values];",
  }
  beginning(f, lines)
  body(f, lines)
  lines[#lines + 1] = "END:\nst.param.b32 [result], %r0;\nret;\n}"
  return table.concat(lines, "\n") .. "\n"
end

local function kernel_text(f)
  local results = programs.SLOTS + programs.REGISTERS
  local lines = {
    ".shared .align 4 .b8 exchange[1024];", ".visible .entry kernel(.param .u64 inputs, .param .u64 values, .param .u64 results)\n{",
    registers(f),
    "mov.u32 %thread, %tid.x;\nmov.u32 %threads, %ntid.x;\nmov.u32 %t0, %ctaid.x;\nmad.lo.u32 %t0, %t0, %threads, %thread;",
    ("ld.param.u64 %%out, [results];\nmad.wide.u32 %%out, %%t0, %d, %%out;"):format(4 * results),
    "ld.param.u64 %t1, [inputs];\nmad.wide.u32 %t1, %t0, 4, %t1;\nld.global.u32 %r0, [%t1];\nld.param.u64 %table, [values];",
    "mov.u32 %place, exchange;\nmad.lo.u32 %place, %thread, 4, %place;",
  }
  beginning(f, lines)
  body(f, lines)
  for k = 0, programs.REGISTERS - 1 do
    lines[#lines + 1] = ("st.global.u32 [%%out+%d], %%r%d;"):format(4 * (programs.SLOTS + k), k)
  end
  lines[#lines + 1] = "ret;\n}\n"
  return table.concat(lines, "\n")
end

return function(program)
  local texts = { HEAD }
  for _, f in ipairs(program.functions) do
    texts[#texts + 1] = f.name == "kernel" and kernel_text(f) or function_text(f)
  end
  return table.concat(texts, "\n")
end
