-- What can be done to jobs, each verb once: by a run in its commit, and by a call from outside. A verb names what it takes,
-- as src/redis/ops.ts says, and gets `me`: the run's job, or the job that the call names.

local ops = {}

local on_families = require 'run/ops/on_families'
local on_jobs = require 'run/ops/on_jobs'
local on_ports = require 'run/ops/on_ports'
local on_records = require 'run/ops/on_records'

function ops.named(word) return on_ports.named(word) or on_jobs.named(word) or on_records.named(word) or on_families.named(word) end

return ops
