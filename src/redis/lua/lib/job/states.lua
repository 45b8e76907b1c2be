states.resting = AT_REST
states.indexes = {
  [PLACE.pull] = 'ready:pull',
  [PLACE.timers] = 'timers',
  [PLACE.leased] = 'leases',
  [PLACE.suspended] = 'suspended',
  [PLACE.completed] = 'completed',
  [PLACE.failed] = 'failed',
  [PLACE.terminated] = 'terminated',
}
function states.index(place) return states.indexes[place] or 'ready' end

states.ends = { completed = true, failed = true, terminated = true }

function states.is_ready(doc) return not doc.place or doc.place == PLACE.pull end

function states.is_idle(doc) return doc.place == PLACE.suspended or doc.place == PLACE.completed end

function states.of(doc)
  if states.resting[doc.place] then return states.resting[doc.place] end
  if doc.terminating then return 'terminating' end
  return doc.place == PLACE.leased and 'running' or 'queued'
end

function states.is_locked(doc) return (tonumber(doc.lock_until) or 0) > time.now end

function states.refuse(id, doc, why)
  journal.refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. states.of(doc) .. ': ' .. why)
end

function states.has_ended(doc) return states.ends[states.of(doc)] ~= nil end

states.kinds = {
  queued = FOLLOWED_AS.busy,
  ['running'] = FOLLOWED_AS.busy,
  ['terminating'] = FOLLOWED_AS.busy,
  suspended = FOLLOWED_AS.suspended,
  completed = FOLLOWED_AS.completed,
  failed = FOLLOWED_AS.broken,
  terminated = FOLLOWED_AS.broken,
}
