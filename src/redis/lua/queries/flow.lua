-- Returns flows, each with its job, its children and the values at their ports.
--
-- by: API, dashboard
-- reads: audience, channel, job, jobs

local most = args.take_int()

local asked = {}
for i = 1, args.take_int() do asked[i] = args.take() end
cache.fetch_jobs(asked)

local function goes_on_at(doc)
  return doc.place == PLACE.timers and (doc.backoff_until or doc.not_before or doc.sleep_until or doc.next_slot) or ''
end

local function flat_nodes(children)
  local rows = {}
  for i, id in ipairs(kin.ids_in(children)) do
    local doc = cache.find(id)
    if doc then
      rows[#rows + 1] = row_of.node { name = children[2 * i - 1], queue = doc.queue, ran_at = doc.ran_at or '',
        last_run = doc.last_run or '', limit = doc.place == PLACE.limited and doc.waiting_limit or '',
        lease_until = doc.lease_until or '', till = goes_on_at(doc) }
    end
  end
  return rows
end

local found, families, all, shown, total = {}, {}, {}, {}, 0
for i, job in ipairs(asked) do
  local ok, id = journal.attempt(aliases.need, job)
  found[i] = ok and id
  families[i] = ok and snapshot.flat_children(id, cache.find(id)) or id
  total = total + (ok and #families[i] / 2 or 0)
  if ok and (total <= most or i == 1) then
    tables.append(all, kin.ids_in(families[i]))
    shown[#shown + 1] = id
  elseif ok then
    families[i] = false
  end
end
cache.fetch_jobs(all)
snapshot.fetch_side_values(shown)

local rows = {}
for i, id in ipairs(found) do
  local children = families[i]
  if not id then
    rows[i] = row_of.flow { word = 'refused', code = children.code, message = children.message }
  elseif not children then
    rows[i] = row_of.flow { word = 'later' }
  else
    local doc = cache.find(id)
    rows[i] = row_of.flow { word = 'flow', id = id, document = cache.document(id),
      side = snapshot.flat_side_values(id, doc), children = children,
      ports = snapshot.flat_wires(id, doc, children, true), nodes = flat_nodes(children) }
  end
end
return reply.flows { flows = rows, now = time.now }
