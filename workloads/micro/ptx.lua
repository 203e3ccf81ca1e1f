-- PTX as text: what the kernels of this folder are put together with.
local ptx = {}

--- `template` with each $name, of letters alone, replaced by fields.name.
function ptx.fill(template, fields)
  return (template:gsub("%$(%a+)", function(name)
    local value = fields[name]
    if value == nil then error("PTX template: expected a value for '" .. name .. "', got nothing", 4) end
    return tostring(value)
  end))
end

--- `count` lines: all the same, or what a function makes of 0 to count - 1.
function ptx.lines(count, line)
  local lines = {}
  for i = 0, count - 1 do lines[i + 1] = "\t" .. (type(line) == "function" and line(i) or line) end
  return table.concat(lines, "\n")
end

--- A module of these kernels.
function ptx.module(kernels)
  return ".version 3.2\n.target sm_30\n.address_size 64\n\n" .. table.concat(kernels, "\n")
end

return ptx
