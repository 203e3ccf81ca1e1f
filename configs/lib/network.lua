-- Part of the library, so that its errors name the line of the machine that it is called from.
return require "warpwright.network"
