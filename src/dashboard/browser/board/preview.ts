// Previews what a draft would change, and applies the draft.

import type { GraphChange } from '../../../engine/engine.ts'
import { base as path } from '../app/page.ts'
import { putGraph } from './api.ts'
import { showPanel } from './panel.ts'
import type { Draft, Editing } from './working.ts'

/** Milliseconds from the last change to its preview. */
const SOON = 150

const isChanged = ({ base, now }: Draft): boolean => JSON.stringify(base) !== JSON.stringify(now)

export function createPreview(data: () => Editing, draft: Draft, onChange: () => void) {
  const panel = document.getElementById('would')!
  const button = panel.querySelector<HTMLButtonElement>('[data-edit="apply"]')!
  const mayWrite = !button.title
  let change: GraphChange | undefined
  let asked = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let key: string = crypto.randomUUID()
  let isWaiting = false
  /** Key of the draft that is applied after its preview. */
  let wanted: string | undefined

  const put = (preview: boolean, key: string) =>
    putGraph(data().job, JSON.stringify(draft.now), { preview, match: draft.hash, key })

  function show(error?: string, waits = false): void {
    const differs = isChanged(draft)
    showPanel(panel, { data: data(), draft, change: differs ? change : undefined, error, waits })
    isWaiting = waits
    panel.querySelector('.applybox a')!.textContent = differs || error !== undefined ? 'Discard' : 'Close'
    button.disabled = !mayWrite || !differs || error !== undefined || waits || change === undefined
  }

  async function load(): Promise<void> {
    const mine = ++asked
    show(undefined, true)
    const answer = await put(true, crypto.randomUUID())
    if (mine !== asked) return
    change = 'change' in answer ? answer.change : undefined
    onChange()
    show('error' in answer ? answer.error.message : undefined)
    const isWanted = wanted === key && !document.querySelector('dialog[open]')
    wanted = undefined
    if (isWanted) void apply()
  }

  async function apply(): Promise<void> {
    if (isWaiting && mayWrite) {
      wanted = key
      panel.querySelector('.note')!.textContent = 'Loading the preview. If it has no errors, the graph is applied'
    }
    if (button.disabled) return
    button.disabled = true
    const answer = await put(false, key)
    if ('error' in answer) {
      show(answer.error.message)
      button.disabled = answer.error.code !== 'UNAVAILABLE'
      return
    }
    draft.forget()
    location.assign(`${path}/flows/${data().job}`)
  }

  return {
    apply,
    change: () => change,
    begin(): void {
      if (isChanged(draft) || draft.hash !== data().hash) void load()
      else show()
    },
    renew(): void {
      key = crypto.randomUUID()
      show(undefined, true)
      clearTimeout(timer)
      timer = setTimeout(() => void load(), SOON)
    },
    refuse(error: string): void {
      clearTimeout(timer)
      asked += 1
      show(error)
    },
  }
}
