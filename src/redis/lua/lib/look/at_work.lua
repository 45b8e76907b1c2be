-- Who is at work: lanes, programs that ask under a name, and which runs they have.
-- Made when first called.

local at_work = {}

local cache = require 'runtime/cache'
local entries = require 'runtime/entries'
local numbers = require 'runtime/numbers'
local tables = require 'runtime/tables'
local tally = require 'runtime/tally'
local time = require 'runtime/time'
local find, queue = cache.find, cache.queue
local int = numbers.int
local now = time.now

function at_work.lanes(names)
  local lanes = {}
  for _, name in ipairs(names) do
    for lane, till in pairs(queue(name).lanes) do
      if till > now and not lane:find('^bell') then lanes[#lanes + 1] = row_of.lane { queue = name, lane = lane, till = int(till) } end
    end
  end
  return lanes
end

-- The ids of at most so many jobs that are lent, and whether there are more.
function at_work.ids(names, most)
  local ids = {}
  for _, name in ipairs(names) do
    -- No end of a lease is waited for where nothing is lent.
    if queue(name).next_lease and #ids < most then
      local found = tally.members(name, 'leases', most + 1 - #ids)
      for _, id in ipairs(entries.ids_of(found, most + 1 - #ids)) do ids[#ids + 1] = id end
    end
  end
  if #ids > most then return tables.slice(ids, 1, most), 'more' end
  return ids, ''
end

-- What runs, of jobs that have been read.
function at_work.runs(ids)
  local runs = {}
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.place == 'l' then runs[#runs + 1] = row_of.run { job = id, queue = doc.queue, class = doc.class, token = doc.token, started_at = doc.ran_at, lease_until = doc.lease_until, process = doc.process or '' } end
  end
  return runs
end

function at_work.processes()
  local known, rows = redis.call('HGETALL', ns .. 'processes'), {}
  for i = 1, #known, 2 do rows[#rows + 1] = row_of.process { name = known[i], record = known[i + 1] } end
  return rows
end

return at_work
