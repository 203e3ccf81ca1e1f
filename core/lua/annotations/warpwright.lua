---@meta
-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.

---@class (exact) warpwright.RunOptions
---@field config? any
---@field workload? any
---@field size? string|table
---@field policy? string|table
---@field set? table
---@field out? string|false
---@field max_cycles? integer
---@field order? any
---@field threads? integer
---@field pin? any
---@field memory? any
---@field checkpoint_every? integer|string
---@field checkpoint_at? any
---@field keep? any
---@field resume? string
---@field allow_changes? any
---@field energy? any
---@field bounds? any
---@field memcheck? any
---@field stats? any
---@field stats_every? any
---@field stats_of? any
---@field profile? any
---@field histograms? any
---@field fast_forward? any
---@field sample? any
---@field jobs? any
---@field trace? any
---@field from? any
---@field to? any
---@field events? any
---@field trace_file? any
---@field perfetto? any

---@class warpwright
---@field version string
local ww = {}

---@param name string
---@param options table<string, number|string|boolean|table> that overrides may change by name; a list has the legal values, the default first
---@param build fun(m: warpwright.Machine, o: table)
---@overload fun(name: string, build: fun(m: warpwright.Machine, o: table)): table
---@return table
function ww.machine(name, options, build) end

---@param name string
---@return fun(settings: warpwright.ClassSettings): table
function ww.class(name) end

---@param name string
---@param base string|table a name, a path or a machine
---@param options table<string, number|string|boolean|table> of the base, and further ones that the function reads
---@param build fun(m: warpwright.Variant, o: table)
---@overload fun(name: string, base: string|table, build: fun(m: warpwright.Variant, o: table)): table
---@return table
function ww.variant(name, base, options, build) end

---@param name string
---@return fun(definition: table): table
function ww.workload(name) end

---@param name string
---@return fun(numbers: table): table
function ww.technology(name) end

---@param options warpwright.RunOptions
---@return table result
function ww.run(options) end

---@param config any
---@param options? table
---@return table sim
function ww.build(config, options) end

---@param element string "f32" and the like
---@param length integer
---@return table
function ww.array(element, length) end

---@param element string "f32" and the like
---@param source table|string numbers, bytes, or an array
---@return table
function ww.array_from(element, source) end

---@param path string
---@param element string "f32" and the like
---@return table
function ww.file_array(path, element) end

---@param seed integer
---@return table
function ww.rng(seed) end

---@type { round: fun(x: number): number; fma: fun(a: number, b: number, c: number): number }
ww.float32 = nil

---@param value number
---@return table
function ww.i8(value) end

---@param value number
---@return table
function ww.u8(value) end

---@param value number
---@return table
function ww.i16(value) end

---@param value number
---@return table
function ww.u16(value) end

---@param value number
---@return table
function ww.i32(value) end

---@param value number
---@return table
function ww.u32(value) end

---@param value number
---@return table
function ww.i64(value) end

---@param value number
---@return table
function ww.u64(value) end

---@param value number
---@return table
function ww.f32(value) end

---@param value number
---@return table
function ww.f64(value) end

---@param value number
---@return table
function ww.f16(value) end

---@param value number
---@return table
function ww.bf16(value) end

return ww
