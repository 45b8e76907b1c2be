type Fact = { rule: string; text: string; since: number; link: string; isSevere: boolean }

export type Problem = Fact & { key: string }

export type Alert = Fact & { at: number; goneAt?: number; toldAt?: number; acknowledged?: AlertNote }

export type AlertNote = { by: string; at: number; reason?: string }

export type AlertState = { alert?: Alert; muted?: AlertNote & { until?: number } }

export type Notice = { key: string; what: 'begins' | 'lasts' | 'is over'; alert: Alert; once: string }

type AlertTimes = {
  /** In milliseconds, by rule. */
  after: (rule: string) => number
  every?: number
}

const OVER_AFTER_MS = 90_000

export const isMuted = ({ muted }: AlertState, now: number): boolean =>
  muted !== undefined && (muted.until === undefined || now < muted.until)

type Step = { state: AlertState; notice?: Notice }

const noted = (state: AlertState, alert: Alert): AlertState => ({ ...state, alert })

export const newAlert = ({ key: _, ...problem }: Problem, now: number): Alert => ({ ...problem, at: now })

export function nextStep(
  key: string,
  state: AlertState,
  problem: Problem | undefined,
  { after, every }: AlertTimes,
  now: number,
): Step {
  const { alert } = state
  if (!problem) return alert ? withoutProblem(key, state, alert, now) : { state }
  const { goneAt: _, ...kept } = { ...newAlert(problem, now), ...alert, text: problem.text, link: problem.link }
  const next = noted(state, kept)
  if (isMuted(state, now) || now - kept.at < after(kept.rule)) return { state: next }
  const stepWith = (what: Notice['what'], mark: number): Step => ({
    state: next,
    notice: { key, what, alert: kept, once: `${key} ${what} ${mark}` },
  })
  if (kept.toldAt === undefined) return stepWith('begins', kept.at)
  if (every !== undefined && !kept.acknowledged && now - kept.toldAt >= every) return stepWith('lasts', kept.toldAt)
  return { state: next }
}

function withoutProblem(key: string, state: AlertState, alert: Alert, now: number): Step {
  const { goneAt } = alert
  if (goneAt === undefined) return { state: noted(state, { ...alert, goneAt: now }) }
  if (now - goneAt < OVER_AFTER_MS) return { state }
  const { alert: _, ...over } = state
  if (alert.toldAt === undefined) return { state: over }
  return { state: over, notice: { key, what: 'is over', alert, once: `${key} is over ${alert.at}` } }
}
