-- How many different lines were accessed since a line was accessed last: its distance in a stack of
-- lines by their last access.
local reuse_stack = {}

local Stack = {}
Stack.__index = Stack

local LEAST_CAPACITY <const> = 1024

--- A Fenwick tree of marks at the times of last accesses, one for each line.
function reuse_stack.new()
  local stack = setmetatable({ last = {}, lines = 0, time = 0 }, Stack)
  stack:renumber()
  return stack
end

function Stack:add(time, amount)
  local tree = self.tree
  while time <= self.capacity do
    tree[time] = tree[time] + amount
    time = time + (time & -time)
  end
end

--- The marks up to a time.
function Stack:up_to(time)
  local tree, sum = self.tree, 0
  while time > 0 do
    sum = sum + tree[time]
    time = time & (time - 1)
  end
  return sum
end

--- Times without a mark are left out, so that there is room for as many accesses again as there are
-- lines.
function Stack:renumber()
  local lines, tree = {}, {}
  for line in pairs(self.last) do lines[#lines + 1] = line end
  table.sort(lines, function(a, b) return self.last[a] < self.last[b] end)
  self.time, self.capacity = #lines, math.max(LEAST_CAPACITY, 2 * #lines)
  for i = 1, self.capacity do tree[i] = i <= #lines and 1 or 0 end
  for i, line in ipairs(lines) do self.last[line] = i end
  for i = 1, self.capacity do
    local above = i + (i & -i)
    if above <= self.capacity then tree[above] = tree[above] + tree[i] end
  end
  self.tree = tree
end

--- The line is accessed. Returns how many others were since its last access, or nil: this is its
-- first.
function Stack:access(line)
  local before, distance = self.last[line], nil
  if before then
    distance = self.lines - self:up_to(before)
    self:add(before, -1)
    self.last[line] = nil
  else
    self.lines = self.lines + 1
  end
  if self.time == self.capacity then self:renumber() end
  self.time = self.time + 1
  self:add(self.time, 1)
  self.last[line] = self.time
  return distance
end

return reuse_stack
