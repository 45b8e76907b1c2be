import type { Child } from 'hono/jsx'
import { useLook } from '../look.ts'
import { entryOf, type NavName } from '../nav.ts'
import { CopyButton } from './act.tsx'

type SnippetProps = { title: string; text: string; note?: string; out?: Child; children?: Child }

export function Snippet({ title, text, note, out, children }: SnippetProps) {
  return (
    <section class="card snip">
      <header>
        {title}
        <span class="right row">
          {note && <span class="note">{note}</span>}
          <CopyButton />
        </span>
      </header>
      <pre tabindex={0}>{text}</pre>
      {out && <pre class="out">{out}</pre>}
      {children}
    </section>
  )
}

export const OWN_CLASS = `// src/jobs/double.ts; then add double to the list in src/jobs/index.ts
import { defineWorker, port } from 'sidejob'
import * as z from 'zod'

export const double = defineWorker({
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
  },
})`

export const CREATE_WORKER = 'npx sidejob create my-worker --template python'

const FIRST_JOB = `npx sidejob run split --queue core --input in='"to,be,or,not"'`

/** Classes of the standard library, because other classes may not be registered. */
const firsts: Partial<Record<NavName, string>> = {
  flows: `npx sidejob run flow --queue core --args '{ "graph": {
  "nodes": { "split": { "queue": "core", "class": "split" }, "each": { "queue": "core", "class": "each" } },
  "edges": [{ "from": { "node": "split", "outport": "out" }, "to": { "node": "each", "inport": "in" } }] } }'`,
  schedules: "npx sidejob schedules add split --queue core --cron '0 2 * * *'",
  limits: 'npx sidejob limits set stripe --concurrency 8 --rate 25 --per 1s',
  workers: OWN_CLASS,
  channels: `npx sidejob channels publish /shop/7 '{ "paid": true }' --keep`,
  callbacks: `await client.jobs.enqueue({ queue: 'core', class: 'split', callback: { url: 'https://app.example.com/ended' } })`,
  log: "job.log('charged the card')",
}

export function First({ of }: { of: NavName }) {
  const { base, tenant } = useLook()
  const { title, says } = entryOf(of)
  return (
    <div class="empty">
      <p>
        <b>{`No ${title.toLowerCase()}${tenant === undefined ? '' : ' of this tenant'} yet.`}</b> This page shows {says}
        .
      </p>
      <Snippet
        title="Create the first"
        text={(of === 'workers' && tenant !== undefined ? CREATE_WORKER : firsts[of]) ?? FIRST_JOB}
      />
      <a class="link" href={`${base.slice(0, -2)}docs#${of}`}>
        API of {title.toLowerCase()}
      </a>
    </div>
  )
}
