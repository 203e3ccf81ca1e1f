-- Executes a random program thread by thread, from its abstract form.
local programs = require "tests.conformance.programs"

local interpreter = {}

local MOST_STEPS <const> = 20000 -- of a thread

local function shift(value, amount, left)
  if amount >= 32 then return 0 end
  return left and value << amount & 0xffffffff or value >> amount
end

local ops = {
  add = function(a, b) return a + b & 0xffffffff end,
  sub = function(a, b) return a - b & 0xffffffff end,
  ["mul.lo"] = function(a, b) return a * b & 0xffffffff end,
  xor = function(a, b) return a ~ b end,
  ["and"] = function(a, b) return a & b end,
  ["or"] = function(a, b) return a | b end,
  min = math.min, max = math.max,
  shl = function(a, b) return shift(a, b, true) end,
  shr = function(a, b) return shift(a, b, false) end,
}

local compares = {
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
}

--- The value that register k of a thread has at the beginning.
function interpreter.initial(input, k) return (input * (2 * k + 3) & 0xffffffff) ~ k end

local function new_frame(f, first)
  local frame = { f = f, at = 1 }
  for k = 0, f.registers - 1 do frame[k] = interpreter.initial(first, k) end
  frame[0] = first
  frame.predicates = {}
  for k = 0, programs.PREDICATES - 1 do frame.predicates[k] = first >> k & 1 == 1 end
  return frame
end

--- Where the labels of a function are, once for a program.
local function index(program)
  local functions = {}
  for _, f in ipairs(program.functions) do
    local labels = {}
    for at, operation in ipairs(f.list) do
      if operation.kind == "label" then labels[operation.name] = at end
    end
    functions[f.name] = { list = f.list, registers = f.registers, labels = labels, name = f.name }
  end
  return functions
end

local actions = {}

function actions.set(o, frame)
  local b = o.b
  frame[o.to] = ops[o.op](frame[o.a], type(b) == "table" and b[1] or frame[b])
end
function actions.setp(o, frame)
  local b = o.b
  frame.predicates[o.to] = compares[o.op](frame[o.a], type(b) == "table" and b[1] or frame[b])
end
function actions.select(o, frame) frame[o.to] = frame.predicates[o.predicate] and frame[o.a] or frame[o.b] end
function actions.label() end
actions["goto"] = function(o, frame) frame.at = frame.f.labels[o.name] end
function actions.switch(o, frame) frame.at = frame.f.labels[o.names[frame[o.a] % #o.names + 1]] end
function actions.call(o, frame, thread)
  local callee = new_frame(thread.functions[o.name], frame[o.a])
  callee.caller, callee.to = frame, o.to
  thread.frame = callee
end
function actions.choose(o, frame, thread)
  actions.call({ name = o.names[frame.predicates[o.predicate] and 1 or 2], a = o.a, to = o.to }, frame, thread)
end
function actions.ret(_, frame, thread)
  local caller = frame.caller
  if caller then caller[frame.to] = frame[0] end
  thread.frame = caller
end
function actions.exit(_, _, thread) thread.frame = nil end
function actions.store(o, frame, thread) thread.slots[o.slot] = frame[o.a] end
function actions.load(o, frame, thread) frame[o.to] = thread.table[frame[o.a] % programs.TABLE] end
function actions.share(o, frame, thread) thread.shared[thread.id] = frame[o.a] end
function actions.fetch(o, frame, thread) frame[o.to] = thread.shared[(thread.id + o.distance) % thread.threads] end
function actions.barrier(_, _, thread) thread.waits = true end

--- Until a barrier or the end; false when it takes too long.
local function advance(thread)
  thread.waits = false
  while thread.frame and not thread.waits do
    local frame = thread.frame
    local operation = frame.f.list[frame.at]
    thread.steps = thread.steps + 1
    if thread.steps > MOST_STEPS then return false end
    if not operation then
      if not frame.caller then
        for k = 0, programs.REGISTERS - 1 do thread.final[k] = frame[k] end
      end
      actions.ret(nil, frame, thread)
    else
      frame.at = frame.at + 1
      local guard = operation.guard
      if not guard or frame.predicates[guard[1]] ~= guard[2] then actions[operation.kind](operation, frame, thread) end
    end
  end
  return true
end

--- A CTA: of each thread, by its input, slots and final registers (0 where it did not come to the end). nil: a thread takes
--- too many steps.
function interpreter.run(program, inputs, values)
  local functions, shared, threads = index(program), {}, {}
  for id = 0, #inputs - 1 do
    threads[id + 1] = {
      id = id, threads = #inputs, functions = functions, table = values, shared = shared, steps = 0, slots = {}, final = {},
      frame = new_frame(functions.kernel, inputs[id + 1]),
    }
  end
  local running = true
  while running do
    running = false
    for _, thread in ipairs(threads) do
      if thread.frame and not advance(thread) then return nil end
      running = running or thread.frame ~= nil
    end
  end
  local results = {}
  for _, thread in ipairs(threads) do
    for k = 0, programs.SLOTS - 1 do results[#results + 1] = thread.slots[k] or 0 end
    for k = 0, programs.REGISTERS - 1 do results[#results + 1] = thread.final[k] or 0 end
  end
  return results
end

return interpreter
