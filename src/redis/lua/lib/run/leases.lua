local lease_fields = { fields.token, fields.lease_until, fields.lease_length, fields.begun, fields.next_commit,
  fields.previous_ran_at, fields.process, fields.run_did }

function leases.finish(id, doc)
  if doc.held_limits then limits.release_slots(id, doc) end
  cache.clear(id, doc, lease_fields)
end

function leases.run_count(doc)
  return (doc.runs_this_minute or ''):match('^(%d+):(%d+)$')
end

function leases.uncount_run(id, doc)
  local minute, n = leases.run_count(doc)
  if minute then cache.change(id, doc, fields.runs_this_minute, minute .. ':' .. math.max(0, n - 1)) end
end

function leases.uncount(id, doc)
  leases.uncount_run(id, doc)
  if doc.deliveries then cache.change(id, doc, fields.deliveries, doc.deliveries - 1) end
end

local MAX_KEPT_ERROR = 8192

-- By default, only failed and lost runs are recorded, so that a successful job costs nothing extra.
local FAILURES_KEPT = 10

function leases.most_kept(doc) return tonumber(doc.history) or FAILURES_KEPT end

local function summary(id, doc, did)
  cache.count(id, doc, fields.runs_noted)
  return '\n+' .. doc.runs_noted .. ',' .. time.moment_of_sequence(doc.sequence) .. ','
    .. (doc.next_commit or '0') .. (did and cjson.encode(did) or doc.run_did or '')
end

function leases.of_version(version) return version and version ~= '' and ' ' .. version or '' end

function leases.note_run(id, doc, outcome, more)
  local line = (doc.ran_at or '0') .. ',' .. time.now_text .. ',' .. outcome .. ','
    .. (tonumber(doc.failures) or 0) + 1 .. leases.of_version(more.version)
  cache.change(id, doc, fields.last_run, line)
  local most = (doc.history or outcome == 'failed' or outcome == 'lost') and leases.most_kept(doc) or 0
  if most == 0 then return end
  local n, error = tonumber(doc.history_kept) or 0, more.error or ''
  if #error > MAX_KEPT_ERROR then
    error = '{"message":"its error is ' .. #error .. ' bytes: only the last error is kept","reason":"other"}'
  end
  local by = more.by or doc.process or (doc.lease_length and sides.of(doc) and 'pull') or ''
  local kept = lists.at(redis_keys.side(id, 'runs'), n)
  local text = line .. ',' .. doc.token .. ',' .. (more.again and '1' or '') .. ',' .. by .. '\n' .. error
    .. (doc.history and summary(id, doc, more.did) or '')
  lists.push(kept, { text })
  history.note_run(id, doc, text)
  if n >= most then lists.pop(kept, 1) else cache.change(id, doc, fields.history_kept, n + 1) end
end

function leases.hold(id, doc, till)
  local was = tonumber(doc.lease_until)
  cache.change(id, doc, fields.lease_until, till)
  places.move(id, doc, PLACE.leased, till)
  if doc.held_limits then limits.renew_slots(id, doc, till < was) end
end

function leases.extend(id, doc, lease) leases.hold(id, doc, time.now + (tonumber(doc.lease_length) or lease)) end
