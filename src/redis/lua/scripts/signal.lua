-- signal: tell a process to take no new jobs, to stop, or to go on. It hears with its next claim or heartbeat.
--
-- keys: none
-- by: API
-- reads: processes
-- writes: processes
-- args: ns, clock, seed, name, signal
-- returns: {'told'} | {'gone'}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/queue/processes

local text = hget(processes_key, name)
if not text then return { 'gone' } end
local known = processes.read(text)
known.signal = signal
processes.write(name, known)
flush()
return { 'told' }
