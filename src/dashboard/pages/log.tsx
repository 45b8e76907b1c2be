// The log of all jobs, newest first.

import { queryWith, useLook } from '../look.ts'
import { page } from '../page.ts'
import { Card, Choice, Head, To } from '../parts/layout.tsx'
import { Listen, LOG } from '../parts/listen.tsx'
import { type LogEntry, LogLines, Tail } from '../parts/log.tsx'
import { many } from '../words/number.ts'

type LogData = { entries: LogEntry[]; cursor: string | null; level?: string; job?: string; tail: boolean }

const levels = ['info', 'warn', 'error'] as const
const MOST = 100

export const log = page<LogData>({
  path: '/log',
  nav: 'log',
  every: 2_000,
  async load({ engine, query }) {
    const [level, job, name, cursor, text] = ['level', 'job', 'class', 'cursor', 'text'].map(
      (name) => query.get(name) || undefined,
    )
    const { entries, cursor: next } = await engine.readLog({
      limit: MOST,
      ...(level ? { level } : {}),
      ...(job ? { job } : {}),
      ...(name ? { class: name } : {}),
      ...(text ? { text: text.slice(0, 200) } : {}),
      ...(cursor ? { cursor } : {}),
    })
    return { entries, cursor: next, level, job, tail: query.has('tail') && !cursor }
  },
  title: () => 'Log',
  View: ({ data: { entries, cursor, level, job, tail }, query }) => {
    const { base } = useLook()
    const to = (level?: string) => `/log${queryWith(query.toString(), { level, cursor: undefined })}`
    return (
      <>
        <Head title="Log" note={`${many(entries.length, 'entry', 'entries')}${job ? ` of job ${job}` : ''}`}>
          <Tail
            on={tail}
            to={`/log${queryWith(query.toString(), { tail: tail ? undefined : '1', cursor: undefined })}`}
          />
          <form class="filter small" action={`${base}/log`}>
            {[...query].map(([name, value]) =>
              ['text', 'class', 'cursor'].includes(name) ? null : <input type="hidden" name={name} value={value} />,
            )}
            <input
              name="class"
              type="search"
              aria-label="Class of the job"
              placeholder="Class"
              value={query.get('class') ?? ''}
              maxlength={200}
            />
            <input
              name="text"
              type="search"
              aria-label="Text of an entry"
              placeholder="Text"
              value={query.get('text') ?? ''}
              maxlength={200}
            />
          </form>
          <Choice
            label="Level"
            options={[
              { text: 'All', to: to(), on: !level },
              ...levels.map((one) => ({ text: one, to: to(one), on: one === level })),
            ]}
          />
        </Head>
        {tail && <Listen to={[LOG]} />}
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
