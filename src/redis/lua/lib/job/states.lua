-- The status of a job, which follows from its place. Places: nil = ready, p = ready:pull, t = timers, l = leases, w = waiting at a limit, s c f T: at rest.

local states = {}

states.resting = { s = 'suspended', c = 'completed', f = 'failed', T = 'terminated' }
states.indexes = { p = 'ready:pull', t = 'timers', l = 'leases', s = 'suspended', c = 'completed', f = 'failed', T = 'terminated' }
states.ends = { completed = true, failed = true, terminated = true }

function states.of(doc)
  if states.resting[doc.place] then return states.resting[doc.place] end
  if doc.terminating then return 'terminating' end
  return doc.place == 'l' and 'running' or 'queued'
end

states.kinds = { queued = 'b', ['running'] = 'b', ['terminating'] = 'b', suspended = 's', completed = 'c', failed = 'x', terminated = 'x' }

return states
