function at_work.lanes(names, with_bells)
  local lanes = {}
  for _, name in ipairs(names) do
    for lane, till in pairs(cache.queue(name).lanes) do
      if till > time.now and (with_bells or not lane:find('^bell')) then
        lanes[#lanes + 1] = row_of.lane { queue = name, lane = lane, till = till }
      end
    end
  end
  return lanes
end

local AT_ONCE = 100

local function members_of(indexes)
  local members = {}
  for from = 1, #indexes, AT_ONCE do
    local to = math.min(#indexes, from + AT_ONCE - 1)
    local found = from == to and redis.call('ZRANGE', indexes[to], 0, -1)
      or redis.call('ZUNION', numbers.int(to - from + 1), unpack(indexes, from, to))
    tables.append(members, found)
  end
  return members
end

function at_work.ids(names, most)
  local members, few, n = {}, {}, 0
  for _, name in ipairs(names) do
    if cache.queue(name).next_lease and n <= most then
      local beside = tally.in_document(name, 'leases')
      local jobs, packed = tally.known(cache.queue(name), 'leases')
      local held = cache.queue(name).jobs_at and jobs - packed - #beside or most + 1
      local found = held > most and tally.members(name, 'leases', most + 1) or beside
      if held > 0 and held <= most then few[#few + 1] = redis_keys.queue(name, 'leases') end
      tables.append(members, found)
      n = n + held + #beside
    end
  end
  tables.append(members, members_of(few))
  local ids = entries.ids_of(members, most + 1)
  if #ids > most then return tables.slice(ids, 1, most), 'more' end
  return ids, ''
end

function at_work.runs(ids)
  local runs = {}
  for id, doc in cache.each(ids) do
    if doc.place == PLACE.leased then
      runs[#runs + 1] = row_of.run { job = id, queue = doc.queue, class = doc.class, token = doc.token,
        started_at = doc.ran_at, lease_until = doc.lease_until, process = doc.process or '' }
    end
  end
  return runs
end

function at_work.processes()
  local known, rows = redis.call('HGETALL', ns .. 'processes'), {}
  for i = 1, #known, 2 do rows[#rows + 1] = row_of.process { name = known[i], record = known[i + 1] } end
  return rows
end
