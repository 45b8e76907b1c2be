import type { FlowNodeView, WireView } from '../../../src/engine/engine.ts'
import type { Facts } from './facts.ts'
import { whyTexts } from './job.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { arranged, clockOf, hourOf, MINUTE, n, perMinute, row, shortened, since, sum, time, took } from './words.ts'

const flowOf = ({ site: { engine }, flow }: Scene) => engine.flows.get(String(flow))

const waitsOn = ({ size, behind }: WireView): number => size + behind

export async function flowsPage(facts: Facts, scene: Scene): Promise<Claims> {
  const [{ nodes, wires }, { flows }] = await Promise.all([flowOf(scene), scene.site.engine.flows.list({ limit: 20 })])
  const oldest = Math.min(...wires.flatMap(({ oldestAt }) => oldestAt ?? []))
  const sumAt = (wanted: string) => n(nodes.filter(({ status }) => status === wanted).length)
  return {
    '.head .note': [`${n(flows.length)} flows`],
    'main tbody tr': flows.map(({ name, status, createdAt, changedAt }) =>
      row(
        `${name} #${scene.flow}`,
        status,
        n(nodes.length),
        sumAt('running'),
        sumAt('queued'),
        sumAt('failed'),
        n(nodes.filter(({ status }) => !['running', 'queued', 'failed'].includes(status ?? '')).length),
        n(sum(wires.map(waitsOn))),
        time(oldest),
        jamIn(facts, nodes, wires)?.fact,
        time(changedAt ?? createdAt),
      ),
    ),
  }
}

const isBacking = ({ now }: Facts, wire: WireView): boolean =>
  waitsOn(wire) > 0 && wire.to.node !== null && wire.oldestAt !== null && now - wire.oldestAt > MINUTE

/** In the test data, a jam is always caused by the node that the jammed wire leads to. */
function jamIn(facts: Facts, nodes: readonly FlowNodeView[], wires: readonly WireView[]) {
  const [wire] = wires.filter((one) => isBacking(facts, one)).toSorted((a, b) => waitsOn(b) - waitsOn(a))
  return wire && { wire, fact: factOf(facts, nodes.find(({ name }) => name === wire.to.node)!) }
}

function factOf(facts: Facts, { limit, status, until, ranAt, lastRun }: FlowNodeView): string {
  const room = facts.limits.find(({ key }) => key === limit)
  if (status === 'queued' && room) return `${n(room.running)} of ${n(room.concurrency!)}`
  if ((status === 'queued' || status === 'suspended') && until !== null && until > facts.now) return since(until)
  if (status === 'running' && ranAt !== null) return `runs for ${since(ranAt)}`
  return (status === 'completed' || status === 'failed') && lastRun ? since(lastRun.endedAt) : ''
}

const nodeClaims = (facts: Facts, nodes: readonly FlowNodeView[]): Claims =>
  Object.fromEntries(
    nodes.flatMap((node) => {
      const [box, fact] = [`[data-board] [data-name="${node.name}"]`, factOf(facts, node)]
      return [
        [`${box}@aria-label`, [fact]],
        [`${box} .fact`, [fact]],
      ]
    }),
  )

const nameOf = ({ node, port }: WireView['from']): string => (node ? `${node}.${port}` : port)

function wireSaid(wire: WireView): string {
  const { from, to, oldestAt, passed } = wire
  const oldest = oldestAt === null ? '' : `, the oldest for ${since(oldestAt)}`
  const waits = waitsOn(wire) > 0 ? `${n(waitsOn(wire))} wait${oldest}` : 'no values wait'
  const last = passed[0] ? shortened(String(passed[0].data), 80) : ''
  return `${nameOf(from)} to ${nameOf(to)}: ${waits}, ${perMinute(wire.out)} read per minute ${last}`
}

function badgeOf(facts: Facts, wire: WireView): string {
  const { oldestAt, rate } = wire
  if (isBacking(facts, wire)) return `${n(waitsOn(wire))} · ${since(oldestAt!)}`
  if (rate > 0) return `${perMinute(wire.out)}/min`
  return waitsOn(wire) > 0 ? n(waitsOn(wire)) : ''
}

const wireClaims = (facts: Facts, wires: readonly WireView[]): Claims =>
  Object.fromEntries(
    wires.flatMap((wire) => [
      [`[data-board] [role=button][data-wire="${wire.id}"]@aria-label`, [wireSaid(wire)]],
      [`[data-board] .badge[data-wire="${wire.id}"]`, [badgeOf(facts, wire)].filter(Boolean)],
    ]),
  )

/** In the test data, no two wires lead to the same port. */
const waitingAt = (name: string, wires: readonly WireView[]): number =>
  sum(wires.filter(({ to }) => to.node === name).map(waitsOn))

const waitingSaid = (values: number): string => (values > 0 ? `${n(values)} waiting` : '')

function listedFact(facts: Facts, node: FlowNodeView): string {
  const { status, ranAt, lastRun } = node
  if (status === 'running' && ranAt !== null) return time(ranAt)
  if (status === 'failed' && lastRun) return time(lastRun.endedAt)
  return status === 'completed' ? '' : factOf(facts, node)
}

const listedWire = (wire: WireView): string =>
  `${waitingSaid(waitsOn(wire))} ${perMinute(wire.out)} read per minute ${wire.oldestAt === null ? '' : time(wire.oldestAt)}`

const wireRows = (wires: readonly WireView[]) =>
  arranged(Object.fromEntries(wires.map((wire) => [`${nameOf(wire.from)} → ${nameOf(wire.to)}`, listedWire(wire)])))

const lists = (facts: Facts, nodes: readonly FlowNodeView[], wires: readonly WireView[]): Claims => ({
  '#lists .note': [n(nodes.length), n(wires.length)],
  '#lists section:first-of-type li': arranged(
    Object.fromEntries(
      nodes.map((node) => [node.name, `${waitingSaid(waitingAt(node.name, wires))} ${listedFact(facts, node)}`]),
    ),
  ),
  '#lists section:last-of-type li': wireRows(wires),
})

async function replay({ now, deploys }: Facts, { site: { engine }, flow }: Scene): Promise<Claims> {
  const { events, keep } = await engine.flows.recorded(String(flow), { limit: 1_000 })
  const { moves, counts, at } = events.at(-1)!
  const isBad = ({ is, run }: (typeof moves)[number]) =>
    is === 'failed' || ['failed', 'lost'].includes(run?.outcome ?? '')
  const { run } = moves.find(isBad) ?? moves.find((move) => move.run !== null) ?? moves[0] ?? {}
  const attempt = run && run.attempt > 1 ? `, attempt ${n(run.attempt)}` : ''
  const ran = run ? `after ${took(run.endedAt - run.startedAt)}${attempt}` : ''
  const holds = moves.length === 0 && counts[0] ? n(counts[0].is) : ''
  const first = Math.max(now - keep!, Math.min(events[0]!.at, now - MINUTE))
  const marks = [first, now, ...deploys.map((one) => one.at), ...(await flowChanges(engine, flow))].map(hourOf)
  return {
    '.replaybox .event': [`Last event ${clockOf(at)}: ${ran} ${holds}`],
    '.replaybox .note': [`{The last ${took(keep!)} are recorded.}Last ${since(first)}, ${n(events.length)} events`],
    '.replaybox .seg[aria-label=Speed]': ['1×10×60×'],
    '.laxis text': (found) => found.map((text) => (marks.includes(text.slice(0, 5)) ? text : marks.join())),
  }
}

async function flowChanges(engine: Scene['site']['engine'], flow: number): Promise<number[]> {
  const { versions } = await engine.flows.graphHistory(String(flow))
  return versions.map(({ at }) => at ?? 0)
}

const JAMMED_WIRE = 'enrich.image>images.url'
const MAX_SHOWN_VALUES = 5

async function wireInspector({ site: { engine } }: Scene, nodes: FlowNodeView[], wires: WireView[]): Promise<Claims> {
  const wire = wires.find(({ id }) => id === JAMMED_WIRE)!
  const job = String(nodes.find(({ name }) => name === wire.to.node)!.job)
  const [{ values }, why] = await Promise.all([
    engine.ports.get(job, 'in', wire.to.port, MAX_SHOWN_VALUES),
    engine.jobs.why(job),
  ])
  const [came, went] = [sum(wire.in), sum(wire.out)]
  const growth = perMinute(wire.in.map((came, i) => came - wire.out[i]!))
  const oldest = time(wire.oldestAt!)
  return {
    '.insp svg[role=img]@aria-label': [`In ten minutes, ${n(came)} arrived, ${n(went)} read`],
    '.insp .stats > div': [n(waitsOn(wire)), oldest, growth],
    '.insp h3': ['Other end: images', 'Values, oldest first', 'Last 10 minutes'],
    '.insp .legend': [`arrived ${n(came)} read ${n(went)}`],
    '.insp .vlist li': values.map(({ data }, i) => `${i + 1} {${data}}${data} ${i === 0 ? oldest : ''}`),
    '.insp .vlist + .note': [`${n(wire.size - MAX_SHOWN_VALUES)} more`],
    '.insp > section > p:not(.note)': whyTexts(why),
  }
}

async function nodeInspector({ site: { engine } }: Scene, nodes: FlowNodeView[], wires: WireView[]): Promise<Claims> {
  const { job, lastRun } = nodes.find(({ name }) => name === 'enrich')!
  const why = await engine.jobs.why(String(job))
  const own = wires.filter(({ from, to }) => from.node === 'enrich' || to.node === 'enrich')
  return {
    '.insp > section > p:not(.note)': whyTexts(why),
    '.insp header .id': [`#${job}`],
    '.insp > section > p.note': [`attempt ${n(lastRun!.attempt)}`],
    '.insp > section > .row time': [time(lastRun!.endedAt)],
    '.insp .row > .note': [n(own.length)],
    '.insp li': wireRows(own),
  }
}

export async function flowPage(facts: Facts, scene: Scene, chosen?: 'wire' | 'node'): Promise<Claims> {
  const { flow, nodes, wires, undo } = await flowOf(scene)
  const values = n(sum(wires.map(waitsOn)))
  const jam = jamIn(facts, nodes, wires)
  return {
    '#flowbar > .id': [`#${flow.id}`],
    '#flowbar > .dim': [
      `${n(flow.running)} of ${n(nodes.length)} nodes running, ${n(flow.queued)} queued; ${values} values wait`,
    ],
    '#flowbar .jamsaid': jam ? [`${n(waitsOn(jam.wire))} values for ${since(jam.wire.oldestAt!)} (${jam.fact})`] : [],
    '#flowbar form .dimmer': [n(undo)],
    '[data-board]@aria-label': [`Graph of the flow: ${nodes.length} nodes, ${wires.length} wires`],
    ...nodeClaims(facts, nodes),
    ...wireClaims(facts, wires),
    ...(chosen === undefined && lists(facts, nodes, wires)),
    ...(await replay(facts, scene)),
    ...(chosen === 'wire' && (await wireInspector(scene, nodes, wires))),
    ...(chosen === 'node' && (await nodeInspector(scene, nodes, wires))),
  }
}

export async function editPage(facts: Facts, scene: Scene): Promise<Claims> {
  const { nodes } = await flowOf(scene)
  return {
    '.flowbar > .id': [`#${scene.flow}`],
    ...nodeClaims(facts, nodes),
    '#lines .dim': [''],
  }
}
