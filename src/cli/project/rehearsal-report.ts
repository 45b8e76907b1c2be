import { counted } from '../../core/counted.ts'
import { durationText } from '../../core/time.ts'
import type { WaitingJobInput } from '../../core/waiting.ts'
import type { Verdict } from '../../testing/rehearse.ts'

export type Judged = Verdict | { is: 'gone' } | { is: 'same' } | { is: 'differs'; parts: string[] }

type Named = { queue: string; class: string }
type Job = Named & { id: number }

type Finding = Judged & { jobs: number; example: number; pinnedTo?: string }

type ClassReport = Named & { jobs: number; continues: number; findings: Finding[] }

type Report = {
  jobs: number
  continues: number
  pinned: number
  changed: number
  unjudged: number
  elsewhere: number
  classes: ClassReport[]
}

/** Jobs with the same key are counted together, so the key must not contain the job's id. */
const keyOf = (judged: Judged, id: number): string =>
  judged.is === 'continues' ? 'continues' : JSON.stringify(judged).replaceAll(`job ${id}`, 'job')

const isGood = ({ is, pinnedTo }: Finding): boolean => pinnedTo === undefined && (is === 'continues' || is === 'same')

const order = (finding: Finding): number => {
  if (finding.pinnedTo !== undefined) return 3
  return isGood(finding) ? 2 : finding.is === 'unjudged' ? 1 : 0
}

export function createReport() {
  const classes = new Map<string, Named & { findings: Map<string, Finding> }>()
  const missing: WaitingJobInput[] = []
  const ours = new Set<string>()
  const sum = (findings: Iterable<Finding>, fits: (finding: Finding) => boolean): number =>
    [...findings].filter(fits).reduce((jobs, finding) => jobs + finding.jobs, 0)

  /**
   * True if other code serves the class: a push or pull worker (null), or only deployments that are not in `ours`.
   * If `ours` is empty, the deployments of this code are unknown.
   */
  const isElsewhere = ({ servedBy }: WaitingJobInput): boolean =>
    servedBy === null || (servedBy.length > 0 && ours.size > 0 && !servedBy.some((id) => ours.has(id)))

  function note({ queue, class: className, id }: Job, judged: Judged, pinnedTo?: string): void {
    const name = `${queue}\n${className}`
    const one = classes.get(name) ?? { queue, class: className, findings: new Map<string, Finding>() }
    classes.set(name, one)
    const pin = pinnedTo === undefined ? {} : { pinnedTo }
    const key = `${pinnedTo ?? ''} ${keyOf(judged, id)}`
    const found = one.findings.get(key)
    if (found) found.jobs++
    else one.findings.set(key, { ...judged, ...pin, jobs: 1, example: id })
  }

  function settle(): number {
    const gone = missing.filter((job) => !isElsewhere(job))
    for (const { snapshot, pinnedTo } of gone) note(snapshot.job, { is: 'gone' }, pinnedTo)
    return missing.splice(0).length - gone.length
  }

  return {
    add({ snapshot, servedBy, pinnedTo }: WaitingJobInput, verdict: Verdict, { moved = false } = {}): void {
      for (const id of servedBy ?? []) ours.add(id)
      note(snapshot.job, verdict, moved ? undefined : pinnedTo)
    },

    note,

    miss: (job: WaitingJobInput): void => void missing.push(job),

    whole(): Report {
      const elsewhere = settle()
      const rows = [...classes.values()].map(({ findings, ...named }): ClassReport => {
        const sorted = [...findings.values()].sort((a, b) => order(a) - order(b) || b.jobs - a.jobs)
        return {
          ...named,
          jobs: sum(sorted, () => true),
          continues: sum(sorted, isGood),
          findings: sorted,
        }
      })
      const all = rows.flatMap(({ findings }) => findings)
      return {
        jobs: sum(all, () => true),
        continues: sum(all, isGood),
        pinned: sum(all, ({ pinnedTo }) => pinnedTo !== undefined),
        changed: sum(all, (finding) => order(finding) === 0),
        unjudged: sum(all, (finding) => order(finding) === 1),
        elsewhere,
        classes: rows.sort((a, b) => (`${a.queue}/${a.class}` < `${b.queue}/${b.class}` ? -1 : 1)),
      }
    },
  }
}

const lengthText = (longer: number | undefined): string => {
  if (longer === undefined) return 'for a different event'
  // The job keeps its stored wait, even if the wait in the code is different now.
  return `${durationText(Math.abs(longer))} ${longer < 0 ? 'longer' : 'shorter'} than in the code`
}

function wouldOf(finding: Finding & { is: 'repeats' | 'waits' | 'skips' }): string {
  const { kept, asked, longer } = finding.change
  const now = asked === null ? 'the function ends without requesting it' : `the function requests ${asked}`
  const what = {
    repeats: ['repeat a step', 'repeating a step'],
    waits: [`wait ${lengthText(longer)}`, `waiting ${lengthText(longer)}`],
    skips: ['end early', 'ending early'],
  }[finding.is] as [string, string]
  return `would ${finding.fails ? `fail instead of ${what[1]}` : what[0]}: the job has stored ${kept}, but ${now}`
}

const verb = ({ jobs }: Finding, one: string, many: string): string => (jobs === 1 ? one : many)

function words({ pinnedTo, ...finding }: Finding): string {
  if (pinnedTo === undefined) return judgedWords(finding)
  return `${verb(finding, 'stays', 'stay')} on version ${pinnedTo}; moved to this code: ${judgedWords(finding)}`
}

function judgedWords(finding: Finding): string {
  switch (finding.is) {
    case 'continues':
      return verb(finding, 'continues', 'continue')
    case 'same':
      return verb(finding, 'does the same', 'do the same')
    case 'differs':
      return `${verb(finding, 'differs', 'differ')} in ${finding.parts.join(', ')}`
    case 'gone':
      return `${verb(finding, 'needs', 'need')} this class, which the code does not define`
    case 'fails':
      return `would fail: ${finding.message}`
    case 'unjudged':
      return `could not be judged: ${finding.why}`
    default:
      return wouldOf(finding)
  }
}

export function linesOf({ jobs, continues, pinned, changed, unjudged, elsewhere, classes }: Report): string[] {
  const sections = classes.flatMap(({ queue, class: name, jobs: waiting, findings }) => [
    `${name}${queue === 'default' ? '' : ` (queue ${queue})`}: ${counted(waiting, 'job')}`,
    ...findings.map((finding) => `  ${finding.jobs} ${words(finding)} (such as job ${finding.example})`),
  ])
  const passed =
    elsewhere > 0
      ? [`${counted(elsewhere, 'job')} left out, because their class is not a function of this project`]
      : []
  if (jobs === 0) return ['No job waits inside a function', ...passed]
  const rest = [
    counted(continues, 'continues', 'continue'),
    ...(pinned > 0 ? [`${counted(pinned, 'stays', 'stay')} on another version`] : []),
    ...(changed > 0 ? [`${changed} would change`] : []),
    ...(unjudged > 0 ? [`${unjudged} could not be judged`] : []),
  ]
  return [...sections, ...passed, `${counted(jobs, 'job')}: ${rest.join(', ')}`]
}
