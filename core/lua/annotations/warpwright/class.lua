---@meta
-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.
---@class warpwright.ClassSettings
---@field doc? string
---@field passes_on? boolean requests go through it: policies look for caches behind it
---@field ports table<string, table> { name = { "responder" or "requester", count = a parameter, optional =, doc = } }
---@field params? table<string, table> { name = { default, unit =, min =, max =, choices =, power_of_two =, timing =, doc = } }
---@field stats? table<string, table> { name = { unit =, doc = } }
---@field state? table what each object remembers, at first
---@field hears? table<string, string[]> { port = { event ... } }: on_PORT_EVENT(self, arguments)
---@field tick fun(self: warpwright.LuaObject, cycle: integer): integer|boolean|nil
---@field start? fun(self: warpwright.LuaObject)
---@field on_kernel_start? fun(self: warpwright.LuaObject, kernel: string)
---@field [string] any further functions are methods

---@class warpwright.Message
---@field kind "read"|"write"|"atomic"
---@field answer boolean
---@field hit? boolean of an answer
---@field wants_answer boolean
---@field address integer
---@field bytes integer of the segment
---@field size integer its bytes on a network, header and data
---@field sm? integer
---@field warp? integer
---@field pc integer
---@field class integer may be changed
---@field port string
---@field index? integer of an array of ports
---@field own? boolean the answer to a request of this object
---@field tag? integer

---@class warpwright.ObjectPort
---@field peek fun(self: warpwright.ObjectPort): warpwright.Message? the first message
---@field pop fun(self: warpwright.ObjectPort): warpwright.Message? takes it
---@field can_send fun(self: warpwright.ObjectPort): boolean
---@field is_wired fun(self: warpwright.ObjectPort): boolean
---@field send fun(self: warpwright.ObjectPort, message: warpwright.Message)
---@field forward fun(self: warpwright.ObjectPort, to?: warpwright.ObjectPort): boolean
---@field request fun(self: warpwright.ObjectPort, request: table) { address =, bytes =, kind =, tag =, sm =, warp =, class = }

---`self` in the functions of a class; its ports are fields.
---@class warpwright.LuaObject
---@field path string
---@field params table<string, any> to be read
---@field state table all that it remembers
---@field count fun(self: warpwright.LuaObject, name: string, n?: integer)
---@field answer fun(self: warpwright.LuaObject, request: warpwright.Message, how?: { hit: boolean })
---@field can_answer fun(self: warpwright.LuaObject, request: warpwright.Message): boolean
---@field drop fun(self: warpwright.LuaObject, request: warpwright.Message)
---@field room fun(self: warpwright.LuaObject): integer how many more messages it may hold
---@field [string] any

---@param name string
---@return fun(settings: warpwright.ClassSettings): table
local function class(name) end

return class
