-- Spatial multitasking: each tenant of the GPU has SMs of its own (Adriaens, Compton, Kim, Schulte, "The Case for GPGPU Spatial
-- Multitasking", HPCA 2012; as instances of a partitioned GPU have them with strict=true). `parts` says how they are divided:
-- tenant 1 has the first of the dispatcher's ports, and so on; 7/8 of 15 SMs are 7 and 8.
--
-- An SM whose owner has no CTA for it takes CTAs of others, in the order of their launches, unless strict=true; when a kernel of
-- its owner begins, it takes no more of them, and is the owner's once it is empty. `lent` counts what it runs for others, and for
-- kernels without a part, which strictly get none. With the dispatcher's kernels_per_sm above 1 the owner has its SM as soon as
-- there is room. `sharing` is in_order, since `evenly` would call SMs back for those who have fewer.
local policy = require "warpwright.policy"

local tenant_sms = policy "tenant_sms" {
  doc = "Each tenant has SMs of its own",
  scope = "dispatcher",
  params = {
    parts = { "1/1", doc = "Of the SMs, for tenants 1, 2, ..." },
    strict = { false, doc = "An SM stands idle while its tenant has no CTA for it" },
  },
  counters = { own = "CTAs on SMs of their tenant", lent = "CTAs on SMs of another", called_back = "SMs that were to give way to their tenant" },
}

function tenant_sms:configure(class) return class == "Dispatcher" and { sharing = "in_order" } or nil end

--- By the dispatcher's port the tenant.
function tenant_sms:start()
  local ports, parts, all = self.dispatcher.sms, {}, 0
  for word in (self.params.parts .. "/"):gmatch "([^/]*)/" do
    local part = math.tointeger(tonumber(word))
    if not part or part < 0 or part > 1024 then error(("parts: expected numbers up to 1024, such as 7/8, got '%s'"):format(self.params.parts), 0) end
    all, parts[#parts + 1] = all + part, part
  end
  if all == 0 then error(("parts: expected one above 0, got '%s'"):format(self.params.parts), 0) end
  self.owner, self.ports = {}, ports
  local before = 0
  for tenant, part in ipairs(parts) do
    for port = before * ports // all, (before + part) * ports // all - 1 do self.owner[port] = tenant end
    before = before + part
  end
end

function tenant_sms:is_owners(sm, kernel) return select(4, self.dispatcher:kernel(kernel)) == self.owner[sm] end

--- The first kernel of the SM's owner with a CTA for it; nil: none.
function tenant_sms:own_kernel(sm)
  local dispatcher = self.dispatcher
  for kernel = 0, dispatcher:kernels() - 1 do
    local fits = dispatcher:kernel(kernel) > 0 and dispatcher:room_for(sm, kernel) ~= 0
    if fits and self:is_owners(sm, kernel) then return kernel end
  end
end

function tenant_sms:next_kernel(sm, choice)
  if choice >= 0 and self:is_owners(sm, choice) then return choice end
  return self:own_kernel(sm) or (self.params.strict and -1 or choice)
end

--- A kernel that begins alone has all SMs: next_kernel is asked when there are others.
function tenant_sms:next_cta(sm)
  if self.params.strict and not self:is_owners(sm, self.dispatcher:kernel_of(sm)) then return -1 end
end

--- SMs that are lent to others go back to whoever has CTAs again.
function tenant_sms:on_kernel_start()
  local dispatcher = self.dispatcher
  for sm = 0, self.ports - 1 do
    local is_lent = dispatcher:resident(sm) > 0 and not self:is_owners(sm, dispatcher:kernel_of(sm))
    if is_lent and self:own_kernel(sm) then
      dispatcher:drain(sm)
      self:count "called_back"
    end
  end
end

function tenant_sms:on_cta_start(sm, _, _, _, _, kernel)
  self:count(self:is_owners(sm, kernel) and "own" or "lent")
end

return tenant_sms
