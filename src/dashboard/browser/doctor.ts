import { checkedText, faultsTitle } from '../words/doctor.ts'
import { made, pageAt } from './app/page.ts'

const box = (): HTMLElement | null => document.getElementById('slices')

let isRunning = false

const button = (): HTMLButtonElement => {
  const link = box()!.querySelector('a, button')!
  if (link instanceof HTMLButtonElement) return link
  const onclick = () => (isRunning ? (isRunning = false) : void run())
  const button = made('button', { className: link.className, type: 'button', onclick })
  link.replaceWith(button)
  return button
}

function add(page: Document, cursor: string): void {
  const rows = [...page.querySelectorAll('#faults tr')]
  if (rows.length === 0) return
  const mend = document.getElementById('mend')!
  const [copier, fresh] = [document, page].map((one) => one.querySelector<HTMLElement>('#mend [data-copy]')!)
  document.getElementById('faults')!.append(...rows)
  copier!.dataset.copy = [copier!.dataset.copy, fresh!.dataset.copy].filter(Boolean).join('\n')
  mend.querySelector('form')?.append(made('input', { type: 'hidden', name: 'cursor', value: cursor }))
  mend.hidden = false
}

function say({ dataset }: HTMLElement): void {
  const [jobs, total] = [Number(dataset.jobs), Number(dataset.total)]
  const isOver = dataset.next === ''
  const bar = box()!.querySelector('progress')!
  bar.value = isOver ? bar.max : jobs
  box()!.querySelector('.word')!.textContent = checkedText(jobs, total, isOver)
  const found = document.querySelectorAll('#faults tr').length
  document.querySelector('#examined h2')!.textContent = faultsTitle(found, jobs)
}

async function slice(at: HTMLElement): Promise<void> {
  const cursor = at.dataset.next!
  const page = await pageAt(`${location.pathname}?cursor=${encodeURIComponent(cursor)}`)
  const { next, jobs } = page.getElementById('slices')!.dataset
  add(page, cursor)
  at.dataset.next = next
  at.dataset.jobs = String(Number(at.dataset.jobs) + Number(jobs))
  say(at)
}

async function run(): Promise<void> {
  const at = box()!
  isRunning = true
  button().textContent = 'Stop'
  try {
    while (isRunning && at.isConnected && at.dataset.next) await slice(at)
  } catch (error) {
    console.warn('the doctor could not continue', error)
  }
  isRunning = false
  if (at.dataset.next) button().textContent = 'Continue'
  else button().remove()
}

if (box()?.dataset.next) {
  button().textContent = 'Continue'
  if (new URLSearchParams(location.search).has('run')) void run()
}
