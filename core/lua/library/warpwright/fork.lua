-- Variants of a run side by side from one warm state: each in a process of its own, forked copy-on-write.
local core = require "warpwright.core"
local literal = require "warpwright.literal"
local names = require "warpwright.names"
local output = require "warpwright.output"
local policy = require "warpwright.policy"
local result = require "warpwright.result"
local sources = require "warpwright.sources"

local fork = {}

-- From child to parent: a result as Lua text --------------------------------------------------------------------------

--- Rows one by one: their values may be no numbers.
local function result_text(r)
  local fields, rows = {}, {}
  for _, key in ipairs(names.sorted_keys(r)) do
    if key ~= "rows" and key ~= "counted" then fields[key] = r[key] end
  end
  for i = 1, #r.rows do
    local name, value, unit, doc, whole, of_policy = r.rows:row(i)
    rows[i] = ("{%q,%s,%q,%q,%s,%s}"):format(name, math.type(value) == "float" and literal(value) or tostring(value), unit,
      doc, whole and literal(whole) or "nil", of_policy)
  end
  return ("return {ok=true,fields=%s,rows={%s}}"):format(literal(fields), table.concat(rows, ","))
end

local function write_file(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

-- The child --------------------------------------------------------------------------------------------------------

local function run_variant(sim, variant, folder)
  local ptx = output.read_ptx(sim.ptx_path)
  sim:change { policy = variant.policy, set = variant.set }
  output.want_hang_report(folder, sim:gpu())
  local ended, checks = sim:run {}
  assert(ended)
  local r = sim:result()
  r.workload, r.size, r.checks, r.out = sim.choices.workload_name, sim.choices.size, checks or 0, folder.path
  local problem = output.write(folder, r, {
    status = "completed",
    config = sim:config(),
    ptx = ptx,
    ptx_files = core.loaded_ptx(sim:gpu()),
    size = sim.params,
    files = sources.list(sim.choices.sources),
    resumed = ("core cycle %d of a run on %s"):format(sim.forked_at, sim.name),
  })
  if problem then core.user_error(problem) end
  return result_text(r)
end

local function be_child(sim, variant, folder, answer)
  local ok, text = xpcall(run_variant, core.message_handler, sim, variant, folder)
  if not ok then
    text = ("return {ok=false,problem=%q}"):format(core.thrown_text(text))
    output.discard(folder)
  end
  local written = pcall(write_file, answer, text) -- an error must not make the child go on as the parent
  core.leave(ok and written and 0 or 2)
end

-- The parent -------------------------------------------------------------------------------------------------------

--- What a policy is called: a text, a policy, or a list of these.
local function policy_name(value)
  if value == nil or type(value) == "string" then return value end
  if policy.is_policy(value) then return value.name end
  if type(value) ~= "table" then names.expected("sim:fork: policy", "a name, a path, a policy or a list of these", value) end
  local words = {}
  for i, element in ipairs(value) do words[i] = policy_name(element) end
  return table.concat(words, "+")
end

local function variant_name(variant, index)
  if variant.name ~= nil and type(variant.name) ~= "string" then names.expected("sim:fork: name", "a text", variant.name) end
  local words = { variant.name or policy_name(variant.policy) }
  if not variant.name then
    for _, key in ipairs(names.sorted_keys(variant.set or {}, "set")) do
      local entry = variant.set[key]
      words[#words + 1] = type(key) == "string" and ("%s=%s"):format(key, tostring(entry)) or tostring(entry)
    end
  end
  return words[1] and table.concat(words, " ") or ("variant " .. index)
end

local function folder_name(name) return (name:gsub("[^%w%-_.,=]", "_")) end

local function start(sim, variant, index, options)
  local name = variant_name(variant, index)
  local out = options.out and ("%s/%s"):format(options.out, folder_name(name)) or options.out
  local folder = output.open(out, { sim.name, sim.choices.workload_name, sim.choices.size, name })
  local answer = os.tmpname()
  local pid = core.fork()
  if pid == 0 then be_child(sim, variant, folder, answer) end
  return { pid = pid, index = index, name = name, answer = answer, folder = folder }
end

--- What the child left: a result, or nil and the reason.
local function collect(child, status, signal)
  local chunk = loadfile(child.answer, "t", { math = math })
  local answer = chunk and chunk() or {}
  os.remove(child.answer)
  if answer.ok then
    local rows = core.stats()
    for _, row in ipairs(answer.rows) do rows:add(table.unpack(row, 1, 6)) end
    return result.from_rows(answer.fields, rows)
  end
  return nil, answer.problem or (signal and "killed by signal " .. signal or "exit status " .. tostring(status))
end

--- Errors for what no child should be started for.
local function check(variants)
  local options, taken = {}, {}
  for _, key in ipairs(names.sorted_keys(variants)) do
    if math.type(key) ~= "integer" then options[key] = variants[key] end
  end
  names.check_keys("sim:fork", options, { "jobs", "out" })
  local jobs = options.jobs or 1
  if math.type(jobs) ~= "integer" or jobs < 1 then
    names.expected("sim:fork: jobs", "a whole number from 1 on", jobs)
  end
  for i, variant in ipairs(variants) do
    names.check_keys("sim:fork, variant " .. i, variant, { "policy", "set", "name" })
    local name = folder_name(variant_name(variant, i))
    if taken[name] and options.out then
      core.user_error(("sim:fork: expected a folder for each variant, got %s/%s for %d and %d; `name` tells them apart"):format(
        options.out, name, taken[name], i))
    end
    taken[name] = i
  end
  return jobs
end

--- sim:fork { { policy =, set =, name = }, ..., jobs = how many at once, out = folder or false } -> results in order
function fork.run(sim, variants)
  local jobs, results, problems, running, alive = check(variants), {}, {}, {}, 0
  local function wait()
    local pid, status, signal = core.wait_for_child()
    local child = running[pid]
    if not child then return end
    running[pid] = nil
    alive = alive - 1
    output.close(child.folder)
    local r, problem = collect(child, status, signal)
    results[child.index] = r or false
    if not r then problems[#problems + 1] = ("%s: %s"):format(child.name, problem) end
  end
  sim.forked_at = sim:gpu():totals().cycles
  sim.machine:stop_threads()
  for i, variant in ipairs(variants) do
    while alive >= jobs do wait() end
    local child = start(sim, variant, i, variants)
    running[child.pid] = child
    alive = alive + 1
  end
  while alive > 0 do wait() end
  if problems[1] then core.user_error("fork: " .. table.concat(problems, "; ")) end
  return results
end

return fork
