-- Random programs in an abstract form: functions, each a list of operations with labels and jumps, structured and not.
--
-- An operation has `kind`, and `guard` = { predicate, negated } where it is predicated:
--   set    op, to, a, b        registers are numbers; b may be { value }
--   setp   op, to, a, b        select  to, a, b, predicate
--   label  name                goto    name            switch  a, names
--   call   name, to, a         ret                     exit
--   choose names, to, a, predicate                     a call through a pointer to one of two functions
--   store  slot, a             to the thread's place in global memory
--   load   to, a               from a table in global memory
--   share  a                   to the thread's place in shared memory
--   fetch  to, distance        from another thread's place          barrier
local ww = require "warpwright"

local programs = {}

programs.REGISTERS = 6     -- that statements compute with; those behind count loops
programs.PREDICATES = 4
programs.SLOTS = 4
programs.TABLE = 64
programs.FUEL = 25         -- jumps in a region that is not structured

local OPS <const> = { "add", "sub", "mul.lo", "xor", "and", "or", "min", "max", "shl", "shr" }
local COMPARES <const> = { "eq", "ne", "lt", "le", "gt", "ge" }

local writer = {}
writer.__index = writer

function writer:put(operation)
  local list = self.list
  list[#list + 1] = operation
  return operation
end

--- One that others rely on: it ends a loop, a recursion, or a race.
function writer:put_fixed(operation)
  operation.fixed = true
  return self:put(operation)
end

function writer:label()
  self.program.labels = self.program.labels + 1
  return "L" .. self.program.labels
end

function writer:register() return self.rng:int(0, programs.REGISTERS - 1) end
function writer:predicate() return self.rng:int(0, programs.PREDICATES - 1) end
function writer:chance(of) return self.rng:int(1, of) == 1 end

function writer:new_register()
  self.registers = self.registers + 1
  return self.registers - 1
end

function writer:guard() return { self:predicate(), self:chance(2) } end

--- A predicate that differs from thread to thread, mostly.
function writer:condition()
  local to = self:predicate()
  local b = self:chance(2) and self:register() or { self.rng:int(0, 0xffffffff) }
  if self:chance(2) then
    self:put { kind = "set", op = "and", to = self.scratch, a = self:register(), b = { self:chance(2) and 3 or 7 } }
    self:put { kind = "setp", op = COMPARES[self.rng:int(1, #COMPARES)], to = to, a = self.scratch, b = { self.rng:int(0, 4) } }
  else
    self:put { kind = "setp", op = COMPARES[self.rng:int(1, #COMPARES)], to = to, a = self:register(), b = b }
  end
  return to
end

function writer:plain()
  local roll = self.rng:int(1, 10)
  local operation
  if roll <= 6 then
    operation = { kind = "set", op = OPS[self.rng:int(1, #OPS)], to = self:register(), a = self:register() }
    local shifts = operation.op == "shl" or operation.op == "shr"
    operation.b = shifts and { self.rng:int(0, 33) } or self:chance(3) and { self.rng:int(0, 0xffffffff) } or self:register()
  elseif roll == 7 then
    operation = { kind = "select", to = self:register(), a = self:register(), b = self:register(), predicate = self:predicate() }
  elseif roll == 8 then
    operation = { kind = "load", to = self:register(), a = self:register() }
  elseif roll == 9 and not self.is_function then
    operation = { kind = "store", slot = self.rng:int(0, programs.SLOTS - 1), a = self:register() }
  else
    self:condition()
    return
  end
  if self:chance(4) then operation.guard = self:guard() end
  self:put(operation)
end

function writer:branch(depth)
  local otherwise, done = self:label(), self:label()
  local predicate = self:condition()
  self:put { kind = "goto", name = otherwise, guard = { predicate, self:chance(2) } }
  self:statements(depth - 1)
  if self:chance(2) then
    self:put { kind = "goto", name = done }
    self:put { kind = "label", name = otherwise }
    self:statements(depth - 1)
  else
    self:put { kind = "label", name = otherwise }
  end
  self:put { kind = "label", name = done }
end

--- A loop whose trips differ from thread to thread; its body may break and continue.
function writer:loop(depth)
  local again, done, counter, left = self:label(), self:label(), self:new_register(), self:predicate()
  local outer = self.inner
  self:put_fixed { kind = "set", op = "and", to = counter, a = self:register(), b = { self:chance(2) and 3 or 5 } }
  self:put_fixed { kind = "label", name = again }
  self:put_fixed { kind = "setp", op = "eq", to = left, a = counter, b = { 0 } }
  self:put_fixed { kind = "goto", name = done, guard = { left, false } }
  self:put_fixed { kind = "set", op = "sub", to = counter, a = counter, b = { 1 } }
  self.inner = { again = again, done = done }
  self:statements(depth - 1)
  self.inner = outer
  self:put_fixed { kind = "goto", name = again }
  self:put_fixed { kind = "label", name = done }
end

function writer:switch(depth)
  local names, done = {}, self:label()
  for i = 1, self.rng:int(2, 5) do names[i] = self:label() end
  self:put { kind = "switch", a = self:register(), names = names }
  for _, name in ipairs(names) do
    self:put { kind = "label", name = name }
    self:statements(depth - 2)
    if not self:chance(3) then self:put { kind = "goto", name = done } end
  end
  self:put { kind = "label", name = done }
end

--- Blocks that jump to each other at random: loops with several entries among them.
function writer:region()
  local names, done, fuel, empty = {}, self:label(), self:new_register(), self:predicate()
  for i = 1, self.rng:int(3, 6) do names[i] = self:label() end
  self:put_fixed { kind = "set", op = "and", to = fuel, a = self:register(), b = { 15 } }
  self:put_fixed { kind = "set", op = "add", to = fuel, a = fuel, b = { programs.FUEL - 15 } }
  for _, name in ipairs(names) do
    self:put { kind = "label", name = name }
    self:put_fixed { kind = "set", op = "sub", to = fuel, a = fuel, b = { 1 } }
    self:put_fixed { kind = "setp", op = "eq", to = empty, a = fuel, b = { 0 } }
    self:put_fixed { kind = "goto", name = done, guard = { empty, false } }
    for _ = 1, self.rng:int(1, 3) do self:plain() end
    for _ = 1, self.rng:int(1, 2) do
      self:put { kind = "goto", name = names[self.rng:int(1, #names)], guard = { self:condition(), self:chance(2) } }
    end
  end
  self:put { kind = "label", name = done }
end

function writer:leave()
  if self.inner and not self:chance(3) then
    self:put { kind = "goto", name = self:chance(2) and self.inner.done or self.inner.again, guard = { self:condition(), self:chance(2) } }
  elseif self.may_leave then
    self:put { kind = self:chance(2) and "ret" or not self.is_function and "exit" or "ret", guard = { self:condition(), self:chance(2) } }
  end
end

function writer:call()
  local list = self.callees
  if #list == 0 then return end
  if self:chance(3) then
    local names = { list[self.rng:int(1, #list)], list[self.rng:int(1, #list)] }
    self:put { kind = "choose", names = names, to = self:register(), a = self:register(), predicate = self:condition() }
    return
  end
  self:put {
    kind = "call", name = list[self.rng:int(1, #list)], to = self:register(), a = self:register(),
    guard = self:chance(4) and self:guard() or nil,
  }
end

--- Threads hand values to each other; those that have left take no part.
function writer:exchange()
  self:put_fixed { kind = "share", a = self:register() }
  self:put_fixed { kind = "barrier" }
  self:put_fixed { kind = "fetch", to = self:register(), distance = self.rng:int(1, 79) }
  self:put_fixed { kind = "barrier" }
end

--- The same in a loop that all threads go through as often.
function writer:exchanges()
  local again, counter, more = self:label(), self:new_register(), self:predicate()
  self:put_fixed { kind = "set", op = "and", to = counter, a = 0, b = { 0 } }
  self:put_fixed { kind = "set", op = "add", to = counter, a = counter, b = { self.rng:int(1, 3) } }
  self:put_fixed { kind = "label", name = again }
  self:statements(3)
  self:exchange()
  self:put_fixed { kind = "set", op = "sub", to = counter, a = counter, b = { 1 } }
  self:put_fixed { kind = "setp", op = "ne", to = more, a = counter, b = { 0 } }
  self:put_fixed { kind = "goto", name = again, guard = { more, false } }
end

function writer:statement(depth)
  local roll = self.rng:int(1, 14)
  if roll <= 6 or depth <= 0 then self:plain()
  elseif roll <= 8 then self:branch(depth)
  elseif roll <= 10 then self:loop(depth)
  elseif roll == 11 then self:switch(depth)
  elseif roll == 12 then self:region()
  elseif roll == 13 then self:leave()
  else self:call() end
end

function writer:statements(depth)
  for _ = 1, self.rng:int(1, 4) do self:statement(depth) end
end

local function new_writer(program, fields)
  fields.program, fields.rng, fields.list = program, program.rng, {}
  fields.registers = programs.REGISTERS
  local w = setmetatable(fields, writer)
  w.scratch = w:new_register()
  return w
end

--- A function of its registers 0 (its argument, later its result) and on. The last one may call itself.
local function add_function(program, name, callees, recursive)
  local w = new_writer(program, { is_function = true, may_leave = true, callees = callees })
  if recursive then
    local depth, enough = w:new_register(), w:predicate()
    w:put_fixed { kind = "set", op = "and", to = depth, a = 0, b = { 7 } }
    w:put_fixed { kind = "setp", op = "eq", to = enough, a = depth, b = { 0 } }
    w:put_fixed { kind = "ret", guard = { enough, false } }
    w:statements(1)
    w:put_fixed { kind = "set", op = "sub", to = depth, a = depth, b = { 1 } }
    w:put { kind = "call", name = name, to = w:register(), a = depth }
  end
  w:statements(2)
  program.functions[#program.functions + 1] = { name = name, list = w.list, registers = w.registers }
end

--- A program: { functions = { { name, list, registers } }, ... }; the last function is the kernel.
function programs.new(seed)
  local program = { rng = ww.rng(seed), functions = {}, labels = 0, seed = seed }
  local names = {}
  for i = 1, program.rng:int(0, 2) do
    local recursive = program.rng:int(1, 4) == 1
    add_function(program, "function_" .. i, { table.unpack(names) }, recursive)
    names[i] = "function_" .. i
  end
  local w = new_writer(program, { callees = names })
  w.may_leave = w:chance(2)
  w:exchange()
  for _ = 1, program.rng:int(0, 2) do w:exchanges() end
  w.may_leave = true
  for _ = 1, 2 do w:statements(3) end
  program.functions[#program.functions + 1] = { name = "kernel", list = w.list, registers = w.registers }
  program.rng = nil
  return program
end

return programs
