-- later(name): a module that is read when something of it is first asked for. For what most runs don't need; what is needed
-- when a run ends must be asked for when it begins, as the files may have changed by then.
return function(name)
  return setmetatable({}, { __index = function(_, key) return require(name)[key] end })
end
