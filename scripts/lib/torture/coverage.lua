-- Which of all parameters that there are torture varies, and why not the others.
local core = require "warpwright.core"
local draw = require "scripts.lib.torture.draw"
local rows = require "scripts.lib.torture.rows"
local work = require "scripts.lib.torture.work"

local coverage = {}

--- Adds one of `of` parameters to a count { varied, all, why = { { name, reason } ... } }.
local function count(to, name, reason)
  to.all = to.all + 1
  if reason then
    to.why[#to.why + 1] = { name, reason }
  else
    to.varied = to.varied + 1
  end
end

--- Why a parameter of a class is not varied; nil when it is.
local function reason_for(class, row, parts, by_policies)
  local name = class .. "." .. row.name
  if draw.by_parts[name] or by_policies[name] then return nil end
  local left_out = draw.is_left_out(class, row.name)
  if left_out then return left_out end
  if parts[class] then return ("policy %s, which makes it, has no parameter for it"):format(parts[class]) end
  return not draw.is_drawn(class, row) and "a text of which its row says nothing" or nil
end

--- { classes = { varied =, all =, why = { { "Class.parameter", reason } ... } }, policies = the
-- same }
function coverage.count()
  local found = { classes = { varied = 0, all = 0, why = {} }, policies = { varied = 0, all = 0, why = {} } }
  local parts, by_policies = work.part_classes(), work.parameters_by_policies()
  for _, class in ipairs(core.classes()) do
    for _, row in ipairs(rows.of_class(class.name)) do
      count(found.classes, class.name .. "." .. row.name, reason_for(class.name, row, parts, by_policies))
    end
  end
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local policy = entry:match "^(.*)%.lua$"
    for _, row in ipairs(policy and work.policy_rows(policy) or {}) do
      local name = policy .. "." .. row.name
      local reason = work.left_out[policy] or work.left_out[name]
      count(found.policies, name, reason or row.kind == "text" and "a name" or nil)
    end
  end
  return found
end

--- In lines for people.
function coverage.lines()
  local found = coverage.count()
  local lines = { ("varied: %d of %d parameters of classes, %d of %d of policies; clocks, quantum, parts, and latency, depth "
    .. "and width of wires"):format(found.classes.varied, found.classes.all, found.policies.varied, found.policies.all) }
  local by_reason, reasons = {}, {}
  for _, list in ipairs { found.classes.why, found.policies.why } do
    for _, entry in ipairs(list) do
      local name, reason = entry[1], entry[2]
      if not by_reason[reason] then
        by_reason[reason] = {}
        reasons[#reasons + 1] = reason
      end
      table.insert(by_reason[reason], name)
    end
  end
  for _, reason in ipairs(reasons) do
    lines[#lines + 1] = ("not varied: %s: %s"):format(table.concat(by_reason[reason], ", "), reason)
  end
  return lines
end

return coverage
