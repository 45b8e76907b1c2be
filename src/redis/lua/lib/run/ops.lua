-- src/redis/ops.ts lists the arguments of each verb. `me` is the job of the run or call.

function ops.named(word)
  return on_ports.named(word) or on_jobs.named(word) or on_records.named(word) or on_families.named(word)
end
