-- What the parts of a machine have counted, whatever its SMs are called and wherever its caches
-- lie.
local parts = {}

-- Class, and the last word of the path where that is what tells them apart.
local kinds = {
  sm = { "SM" }, lsu = { "LSU" }, dma = { "DmaEngine" }, l1d = { "L1", "l1d" }, texture_cache = { "L1", "texture_cache" },
  l2 = { "L2", "l2" },
}

--- The paths of the parts of a kind among objects, which are those of a machine or r.structure.
function parts.paths(objects, kind)
  local class, name = table.unpack(kinds[kind])
  local paths = {}
  for _, object in ipairs(objects) do
    if object.class == class and (not name or object.path:match "([%a_][%w_]*)[%[%]%d]*$" == name) then
      paths[#paths + 1] = object.path
    end
  end
  return paths
end

--- The sum of a counter over them; nil where the machine has no such part.
function parts.sum(r, kind, counter)
  local sum
  for _, path in ipairs(parts.paths(r.structure, kind)) do sum = (sum or 0) + r[path .. "." .. counter] end
  return sum
end

--- A ratio over all parts of a kind; nil where the machine has none, or where they have several
-- names.
function parts.ratio(r, kind, ratio)
  local pattern
  for _, path in ipairs(parts.paths(r.structure, kind)) do
    local of_path = path:gsub("%[%d+%]", "[*]")
    if pattern and of_path ~= pattern then return nil end
    pattern = of_path
  end
  return pattern and r[pattern .. "." .. ratio]
end

--- The sum of a cache's "hits", "misses" or "merges" of reads, those of local memory among them.
function parts.read_sum(r, kind, counter)
  local sum = parts.sum(r, kind, "read_" .. counter)
  return sum and sum + parts.sum(r, kind, "local_read_" .. counter)
end

return parts
