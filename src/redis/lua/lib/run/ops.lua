-- A verb names its arguments as in src/redis/ops.ts. `me` is the job of the run or call.

function ops.named(word)
  return on_ports.named(word) or on_jobs.named(word) or on_records.named(word) or on_families.named(word)
end
