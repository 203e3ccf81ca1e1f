-- Forks of this process that do what they are asked, one thing after the other; and what may be undone because a fork of before
-- stands by.
local core = require "warpwright.core"
local literal = require "warpwright.literal"

local workers = {}

local function evaluate(text) return load(text, "=answer", "t", { math = math })() end

local function text_of(value) return "return " .. literal(value) end

-- A pool ----------------------------------------------------------------------------------------------------------------------------

local Pool = {}
Pool.__index = Pool

workers.MOST_ORDERS = 12 -- that wait: each keeps a machine in memory

--- Of which `jobs` are at work at a time; `waiting`: orders for others.
function workers.pool(jobs) return setmetatable({ jobs = jobs, busy = {}, waiting = {}, all = {} }, Pool) end

--- In the worker: until it is dismissed. Never returns.
local function serve(pool, connection, work)
  pool:forget()
  while true do
    local order = connection:receive()
    if not order or order == "" then core.leave(0) end
    order = evaluate(order)
    local ok, answer = xpcall(work, core.message_handler, order)
    connection:send(ok and text_of(answer) or ("return %q"):format(tostring(answer)))
    if order.is_last then core.leave(0) end
  end
end

local function send_order(pool, worker, order)
  worker.connection:send(text_of(order))
  table.insert(pool.busy, worker)
end

--- One of those at work has answered; false when none has yet, and it was not to wait for one.
local function hear_one(pool, waits)
  local connections = {}
  for i, worker in ipairs(pool.busy) do connections[i] = worker.connection end
  local place = core.ready_connection(connections, waits)
  if not place then return false end
  local worker = table.remove(pool.busy, place)
  worker.text = worker.connection:receive() or "return false"
  return true
end

--- As many are at work as may be.
local function hand_out(pool)
  while #pool.busy > 0 and hear_one(pool, false) do end
  while #pool.busy < pool.jobs and #pool.waiting > 0 do
    local order = table.remove(pool.waiting, 1)
    send_order(pool, order.worker, order.order)
  end
end

--- A worker, not at work yet: `work(order)` is called in it for each order, and returns a table.
function Pool:start(work)
  local process, connection = core.fork_connected()
  if process == 0 then serve(self, connection, work) end
  local worker = { process = process, connection = connection }
  self.all[process] = worker
  return worker
end

--- `order`: a table; with is_last the worker ends when it has answered. It may have to wait until others have answered; `at_once`: it
-- is at work beside as many others as there may be.
function Pool:ask(worker, order, at_once)
  if at_once then return send_order(self, worker, order) end
  table.insert(self.waiting, { worker = worker, order = order })
  hand_out(self)
  while #self.waiting > workers.MOST_ORDERS do
    hear_one(self, true)
    hand_out(self)
  end
end

--- What it returned; or nil and what went wrong.
function Pool:answer_of(worker)
  hand_out(self)
  while not worker.text do
    hear_one(self, true)
    hand_out(self)
  end
  local answer = evaluate(worker.text)
  worker.text = nil
  if type(answer) == "table" then return answer end
  return nil, answer or "a process of it was killed"
end

--- All of them are to end; without waiting for it.
function Pool:abandon()
  for _, worker in pairs(self.all) do worker.connection:send "" end
end

--- In a fork of the process whose workers they are.
function Pool:forget()
  for _, worker in pairs(self.all) do worker.connection:close() end
  self.all, self.busy, self.waiting = {}, {}, {}
end

--- What a worker has to say; an error if that is nothing.
function Pool:hear(worker)
  local answer, problem = self:answer_of(worker)
  if not answer then core.user_error(problem) end
  return answer
end

--- It ends. The process may have children that are no workers, whose end others wait for.
function Pool:dismiss(worker)
  if not self.all[worker.process] then return end
  worker.connection:send ""
  core.wait_for_child(worker.process)
  worker.connection:close()
  self.all[worker.process] = nil
end

--- One order to a worker that ends with it; its answer, or nil and what went wrong.
function Pool:call(work)
  local worker = self:start(work)
  self:ask(worker, { is_last = true }, true)
  local answer, problem = self:answer_of(worker)
  self:dismiss(worker)
  return answer, problem
end

-- An attempt ------------------------------------------------------------------------------------------------------------------------

--- Does `work`, which returns whether it is to stay done, and an answer, a table. Returns both; false when it is not done: the
-- process goes on from before it, knowing the answer alone. Then also what went wrong, if it threw. `pool`: whose workers end with
-- what is not done; an error of a pool that is_stopped is thrown on. `gpu`: what is large in the process.
function workers.attempt(pool, gpu, work)
  core.may_give_way()
  local process, other = core.fork_connected()
  if process == 0 then
    local told = other:receive()
    if not told or told == "" then core.leave(0) end
    core.go_on()
    other:send "goes on"
    other:close()
    core.await_parent()
    pool:forget()
    local answer = evaluate(told)
    return false, answer.answer, answer.problem
  end
  local ok, stays, answer = xpcall(work, core.message_handler)
  if ok and stays or pool.is_stopped then
    other:send ""
    core.wait_for_child(process)
    other:close()
    return ok and true or error(stays, 0), answer
  end
  pool:abandon()
  core.prepare_to_give_way(process)
  other:send(text_of { answer = ok and answer or nil, problem = not ok and tostring(stays) or nil })
  other:receive()
  core.give_way(gpu)
end

return workers
