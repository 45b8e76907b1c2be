-- What every script should know and hardly ever needs: who listens to what sidejob itself says, and the version of the constraints.

local hints = {}

local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local set_text, text_at = cache.set_text, cache.text_at
local push = journal.push
local int = numbers.int
local now = time.now

local hints_key = ns .. 'hints'

-- What every script should know and hardly ever needs: how many listen to system channels, until when somebody outside
-- listens, and the version of the constraints ('' when there never were any).
local hints_text, hints_system, hints_till, hints_version

function hints.known()
  local text = text_at(hints_key) or '0,0,'
  if text ~= hints_text then
    local n, till, version = text:match('^(%d+),(%d+),(%d*)$')
    hints_text, hints_version = text, version
    hints_system = tonumber(n)
    hints_till = tonumber(till)
  end
  return hints_system, hints_till, hints_version
end

function hints.set(system, till, version) set_text(hints_key, int(system) .. ',' .. int(till) .. ',' .. version) end

function hints.wanted()
  local system, till = hints.known()
  return system > 0 or till > now
end

hints.told = {} -- messages of our own: { channel, item }

function hints.tell_status(id, doc, status)
  if doc.quiet then return end
  if hints.wanted() then push(hints.told, { '/sidejob/job/' .. id, '@\n\nl\n{"status":"' .. status .. '"}' }) end
end

return hints
