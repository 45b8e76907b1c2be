local set = {}

function set.retry(run, after) run.retry = after end

-- `kind` is '' if the run will be retried.
function set.error(run, error, kind)
  run.error, run.kind = error, kind
end

function set.at(run, moment) run.at = moment end

function set.wait(run, ms) run.at = time.now + ms end

function set.slot(run, moment, from) run.slot, run.slot_from = moment, from end

function set.catchup(run) run.catches_up = true end

function set.passed(run, slots) run.passed = slots end

function set.result(run, value) run.result = value end

function set.progress(run, value) run.progress = value end

function set.values(run, recorded)
  values.set_value(run.id, cache.need(run.id), fields.last_values, recorded)
end

function set.count(run, name, n) journal.push(journal.within(run, 'counted'), { name, n }) end

function set.waitfor(run, how, names) run.wait_for, run.names = how, names end

function set.pause(run, till, names) run.paused, run.till, run.awaits = true, till, names end

function set.pin(run, version) run.pinned = version end

function set.said(run, moment) run.said = moment end

function set.reach(run, reach) run.reach = reach end

function set.by(run, process) run.by = process end

function set.version(run, version) run.version = version end

function set.unknown(run) run.unknown = true end

function set.deaf(run) run.deaf = true end

function run_fields.named(word) return set[word] end
