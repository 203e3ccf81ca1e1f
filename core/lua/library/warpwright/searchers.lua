-- What `require` says of a module that there is not: one line of folders, in place of a line for each file.

local function folders()
  local found, seen = {}, {}
  for entry in package.path:gmatch "[^;]+" do
    local folder = entry:match "^(.*)/%?%.lua$" or (entry == "?.lua" and ".")
    if folder and not seen[folder] then found[#found + 1] = folder end
    seen[folder or entry] = true
  end
  return table.concat(found, ", ")
end

local lua_files <const> = 2

for i, searcher in ipairs(package.searchers) do
  package.searchers[i] = function(name)
    local loader, extra = searcher(name)
    if type(loader) ~= "string" then return loader, extra end
    if i == lua_files then return ("no file '%s.lua' in %s"):format(name:gsub("%.", "/"), folders()) end
  end
end
