--- Tells the user what is no error but should be known, on stderr.
return function(text, ...) io.stderr:write("warpwright: " .. text:format(...) .. "\n") end
