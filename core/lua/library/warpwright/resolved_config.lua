-- A machine as Lua text in which every parameter and every wire is explicit. Running that text builds the same machine.
local core = require "warpwright.core"

local resolved_config = {}

local function value_text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if math.type(value) == "float" then return ("%.17g"):format(value) end
  return tostring(value)
end

local function frequency(hertz)
  return hertz % 1000000 == 0 and ('"%dMHz"'):format(hertz // 1000000) or tostring(hertz)
end

local function params_text(object, is_child, indent)
  local lines, inner = {}, indent .. "  "
  if not is_child then lines[1] = ("%sclock = %q,\n"):format(inner, core.clock_of(object)) end
  for _, parameter in ipairs(core.parameters(object)) do
    lines[#lines + 1] = ("%s%s = %s,\n"):format(inner, parameter.name, value_text(parameter.value))
  end
  for _, child in ipairs(core.children(object)) do
    lines[#lines + 1] = ("%s%s = %s,\n"):format(inner, child.name, params_text(child.object, true, inner))
  end
  return #lines > 0 and ("{\n%s%s}"):format(table.concat(lines), indent) or "{}"
end

local function link_text(link) return ("latency = %d, depth = %d, width = %d"):format(link.latency, link.depth, link.width) end

local function wire_text(wire)
  local back = wire.back and (", back = { %s }"):format(link_text(wire.back)) or ""
  return ("  m:wire(%q, %q, { %s%s })\n"):format(wire.from, wire.to, link_text(wire.forward), back)
end

function resolved_config.text(name, machine)
  local clocks, quantum = machine:clocks()
  local clock_texts = {}
  for i, clock in ipairs(clocks) do clock_texts[i] = ("%s = %s"):format(clock.name, frequency(clock.hertz)) end
  local parts = {
    'local ww = require "warpwright"\n\n',
    ("return ww.machine(%q, function(m)\n"):format(name),
    ("  m:clocks { %s }\n"):format(table.concat(clock_texts, ", ")),
    ("  m:quantum(%d)\n\n"):format(quantum),
  }
  for _, object in ipairs(machine:objects()) do
    parts[#parts + 1] = ("  m:%s %q %s\n"):format(object.class, object.path, params_text(object, false, "  "))
  end
  parts[#parts + 1] = "\n"
  for _, wire in ipairs(machine:wires()) do parts[#parts + 1] = wire_text(wire) end
  parts[#parts + 1] = "end)\n"
  return table.concat(parts)
end

return resolved_config
