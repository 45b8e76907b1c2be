// The log of all jobs, newest first.

import { queryWith } from '../look.ts'
import { page } from '../page.ts'
import { Card, Choice, Head, To } from '../parts/layout.tsx'
import { type LogEntry, LogLines } from '../parts/log.tsx'
import { many } from '../words/number.ts'

type LogData = { entries: LogEntry[]; cursor: string | null; level?: string; job?: string }

const levels = ['info', 'warn', 'error'] as const
const MOST = 100

export const log = page<LogData>({
  path: '/log',
  nav: 'log',
  every: 2_000,
  async load({ engine, query }) {
    const [level, job, cursor] = ['level', 'job', 'cursor'].map((name) => query.get(name) ?? undefined)
    const { entries, cursor: next } = await engine.readLog({
      limit: MOST,
      ...(level ? { level } : {}),
      ...(job ? { job } : {}),
      ...(cursor ? { cursor } : {}),
    })
    return { entries, cursor: next, level, job }
  },
  title: () => 'Log',
  View: ({ data: { entries, cursor, level, job }, query }) => {
    const to = (level?: string) => `/log${queryWith(query.toString(), { level, cursor: undefined })}`
    return (
      <>
        <Head title="Log" note={`${many(entries.length, 'entry', 'entries')}${job ? ` of job ${job}` : ''}`}>
          <Choice
            label="Level"
            options={[
              { text: 'All', to: to(), on: !level },
              ...levels.map((one) => ({ text: one, to: to(one), on: one === level })),
            ]}
          />
        </Head>
        <Card>
          <LogLines entries={entries} withJobs />
          {cursor && (
            <p class="further">
              <To kind="btn small" to={`/log${queryWith(query.toString(), { cursor })}`}>
                Look further back
              </To>
            </p>
          )}
        </Card>
      </>
    )
  },
})
