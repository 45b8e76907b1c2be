-- Stores an order for a worker process: claim no new jobs, stop, or resume. The next claim or heartbeat returns the
-- order.
--
-- by: API
-- updates: processes

local name, signal = args.take(), args.take()

local text = cache.hget(processes.key, name)
if not text then return reply.none {} end
local known = processes.read(text)
known.signal = signal
processes.write(name, known)
store.write()
return reply.sent {}
