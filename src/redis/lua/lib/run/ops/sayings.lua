local says = {}

function says.retry(run, after) run.retry = after end

-- `kind` is '' if the run will be retried.
function says.error(run, error, kind)
  run.error, run.kind = error, kind
end

function says.at(run, moment) run.at = moment end

function says.wait(run, ms) run.at = time.now + ms end

function says.slot(run, moment, from) run.slot, run.slot_from = moment, from end

function says.catchup(run) run.catches_up = true end

function says.passed(run, slots) run.passed = slots end

function says.result(run, value) run.result = value end

function says.progress(run, value) run.progress = value end

function says.values(run, recorded)
  values.set_value(run.id, cache.need(run.id), fields.last_values, recorded)
end

function says.count(run, name, n) journal.push(journal.within(run, 'counted'), { name, n }) end

function says.waitfor(run, how, names) run.wait_for, run.names = how, names end

function says.pause(run, till, names) run.paused, run.till, run.awaits = true, till, names end

function says.pin(run, version) run.pinned = version end

function says.said(run, moment) run.said = moment end

function says.reach(run, reach) run.reach = reach end

function says.by(run, process) run.by = process end

function says.version(run, version) run.version = version end

function says.unknown(run) run.unknown = true end

function says.deaf(run) run.deaf = true end

function sayings.named(word) return says[word] end
