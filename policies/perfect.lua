-- More of every memory resource (Sethia et al., section II-A and Figure 4): a) large numbers of MSHRs and large queues
-- throughout the memory system, all of 10240 entries; b) fully associative L1 and L2 caches of the same size; c) a memory
-- clock 20% higher. The figure's bars are each alone and all together: `perfect:associative=false,memory=1` is a) alone.
--
-- A queue is what holds requests on their way: miss queues, requests that pass through, responses of the memory
-- controller, and the wires. What a request waits for at a place of its own stays as it is: merges per MSHR (a parameter
-- here), pipelines, and the 64 requests among which a memory controller chooses; more wait in the wire before it.
--
-- A warm machine keeps its clocks: it can go on under memory=1.
local policy = require "warpwright.policy"
local core = require "warpwright.core"

local perfect = policy "perfect" {
  doc = "10240 MSHRs and queue entries everywhere, fully associative caches, memory 20% faster",
  params = {
    entries = { 10240, min = 0, max = 16384, doc = "MSHRs, and entries of each queue; 0: as the machine has them" },
    merges = { 0, min = 0, max = 64, doc = "Requests of one MSHR; 0: as the machine has them" },
    associative = { true, doc = "Fully associative L1 and L2" },
    memory = { 1.2, min = 0.1, max = 10, doc = "Factor on the memory clock" },
    clock = { "dram", doc = "Name of that clock" },
  },
  caches = "data|L2",
}

local function quantity(value, unit) return math.tointeger(value) or core.quantity(value, unit) end

--- At least so many; never less than there are.
local function raised(given, least) return math.max(math.tointeger(given) or 0, least) end

local function cache_settings(params, given)
  local set = {}
  if params.entries > 0 then
    for _, name in ipairs { "mshrs", "miss_queue", "bypassed_limit" } do set[name] = raised(given[name], params.entries) end
  end
  if params.merges > 0 then set.merges = params.merges end
  if params.associative then
    set.ways, set.index = quantity(given.size, "bytes") // quantity(given.line or 128, "bytes"), "linear"
  end
  return set
end

function perfect:configure(class, path, given)
  local params = self.params
  if self:acts_on(path) then return cache_settings(params, given) end
  if class == "clock" and path == params.clock then
    return { frequency = math.floor(quantity(given.frequency, "Hz") * params.memory + 0.5) }
  end
  if params.entries == 0 then return end
  if class == "MemoryController" then
    return { queue_entries = raised(given.queue_entries, 64), return_entries = raised(given.return_entries, params.entries) }
  end
  if class == "wire" then
    local back = given.back or given -- responses have the options of the wire then
    return { depth = raised(given.depth, params.entries),
      back = { latency = back.latency, width = back.width, depth = raised(back.depth, params.entries) } }
  end
end

return perfect
