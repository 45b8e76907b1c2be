-- A verb names its arguments as in src/redis/ops.ts. `me` is the job of the run or call.

local ops = {}

local on_families = require 'run/ops/on_families'
local on_jobs = require 'run/ops/on_jobs'
local on_ports = require 'run/ops/on_ports'
local on_records = require 'run/ops/on_records'

function ops.named(word)
  return on_ports.named(word) or on_jobs.named(word) or on_records.named(word) or on_families.named(word)
end

return ops
