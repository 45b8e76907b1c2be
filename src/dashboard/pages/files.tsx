import { type FilesTotal, listFiles, searchFiles, textOf, totalOf } from '../../http/files.ts'
import { useLook, useWay } from '../look.ts'
import { type Asked, Elsewhere, page } from '../page.ts'
import { Act, LinkButton } from '../parts/act.tsx'
import { Further } from '../parts/further.tsx'
import { Ago, Card, Empty, Head, JobId, Link, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given } from '../words/form.ts'
import { rowsText } from '../words/further.ts'
import { apiPath } from '../words/paths.ts'
import { bytes, cut, many } from '../words/text.ts'

type Listed = Awaited<ReturnType<typeof listFiles>>
type Row = Listed['files'][number] & Maker & { ends?: number | 'never' }
type FilesData = Omit<Listed, 'files'> & {
  files: Row[]
  open?: Row
  text?: string
  total?: FilesTotal
  wanted: string
  looked?: number
}

const MOST = 100
/** Milliseconds. The total is expensive, because it needs all pages of the bucket. */
const FRESH = 60_000

/** Maximum number of jobs to read for the removal times of files. One command reads 64 jobs. */
const REAPERS = 192

/** Each file has a job of class `reap` that removes it. */
async function endsOf({ engine, cache }: Asked): Promise<(file: string) => number | 'never' | undefined> {
  const { jobs, cursor } = await cache.get('ends of files', FRESH, () =>
    engine.jobs.rows({ queue: 'files', class: 'reap', status: 'queued', limit: REAPERS, paths: ['file'] }),
  )
  const ends = new Map(jobs.map(({ args, runAt }) => [args?.file, runAt]))
  return (file) => ends.get(file) ?? (cursor === null ? 'never' : undefined)
}

type Maker = { by?: string; from?: string }

async function readMakers({ engine }: Asked, files: Listed['files'], makers: Map<number | null, Maker>): Promise<void> {
  const ids = files.flatMap(({ job }) => (job === null || makers.has(job) ? [] : job)).sort((a, b) => b - a)
  if (ids.length === 0) return
  const { jobs } = await engine.jobs.rows({ ids, limit: MOST, paths: ['url'] })
  for (const id of ids) makers.set(id, {})
  for (const { id, class: by, args } of jobs)
    makers.set(id, { by, from: by === 'download' ? (args?.url as string) : undefined })
}

const NO_FILES: FilesData = { files: [], cursor: null, wanted: '' }

function noteOf({ files, cursor, total, looked }: FilesData): string {
  if (!total) return 'no bucket'
  if (looked !== undefined) return rowsText(files.length, cursor, 'file')
  return `${total.more ? 'more than ' : ''}${many(total.files, 'file')}, ${bytes(total.bytes)}`
}

function None({ data: { total, wanted } }: { data: FilesData }) {
  const { tenant } = useLook()
  if (!total)
    return (
      <Empty>
        This deployment has no bucket, so it cannot store files.{' '}
        {tenant === undefined && (
          <>
            Bind an R2 bucket as <code>FILES</code>, then deploy.
          </>
        )}
      </Empty>
    )
  if (!wanted)
    return (
      <Empty act={<Link to="/jobs/new?queue=downloader&class=download">New download</Link>}>
        No files yet. Jobs of class download store files.
      </Empty>
    )
  return <Empty act={<Link to="/files">Show all files</Link>}>No files match.</Empty>
}

const nameOf = (url = ''): string => url.replace(/[?#].*/s, '').replace(/.*\//s, '')

function Preview({ of: { id, type, from }, text }: { of: Row; text?: string }) {
  const { base } = useLook()
  const name = nameOf(from) || id
  return (
    <Card title={name} right={<Link to={useWay()({ open: undefined })}>Close</Link>}>
      {type?.startsWith('image/') ? (
        <img class="body" src={`${base}/files?get=${id}`} alt={name} />
      ) : text === undefined ? (
        <Empty>Only images and text have a preview.</Empty>
      ) : (
        <pre tabindex={0}>{text}</pre>
      )}
    </Card>
  )
}

const columns: readonly Column<Row>[] = [
  {
    head: 'File',
    kind: 'fill',
    title: ({ from }) => from,
    cell: ({ id, from }) => (
      <To to={useWay()({ open: id })}>
        <b>{nameOf(from)}</b> <span class="dim mono">{id}</span>
      </To>
    ),
  },
  {
    head: 'Type',
    label: true,
    title: () => 'detected from the first bytes',
    cell: ({ type }) => <span class="mono">{type ?? '–'}</span>,
  },
  { head: '#Size', cell: ({ size }) => bytes(size) },
  {
    head: 'Stored by',
    label: true,
    cell: ({ job, by = '' }) =>
      job === null ? (
        '–'
      ) : (
        <>
          {cut(by, 24)} <JobId id={job} />
        </>
      ),
  },
  { head: 'Stored', kind: 'dim', label: true, cell: ({ storedAt }) => <Ago at={storedAt} /> },
  {
    head: '#Expires',
    kind: 'dim',
    cell: ({ ends = '–' }) => (typeof ends === 'number' ? <Ago at={ends} /> : ends),
  },
  {
    head: '-Acts',
    cell: ({ id }) => (
      <span class="row">
        <LinkButton to={`/files?get=${id}`} small label={`Download ${id}`}>
          Download
        </LinkButton>
        <Act act="remove" scope="write" fields={{ file: id }} kind="quiet" small label={`Remove ${id}`}>
          Remove
        </Act>
      </span>
    ),
  },
]

export const files = page({
  path: '/files',
  nav: 'files',
  every: 0,
  async load(asked) {
    const { deps, query, cache, call } = asked
    if (!deps.downloads) return NO_FILES
    const got = query.get('get')
    // A click requests a signed address, because addresses in an open page would expire.
    if (got) throw new Elsewhere((await call<{ url: string }>('GET', apiPath('files', got))).url)
    const { files } = deps.downloads
    const wanted = query.get('q')?.trim().slice(0, 200) ?? ''
    const cursor = query.get('cursor') ?? undefined
    const makers = new Map<number | null, Maker>()
    const [listed, total, endOf] = await Promise.all([
      wanted
        ? searchFiles(
            files,
            wanted,
            { limit: MOST, cursor, looked: Number(query.get('looked')) || 0 },
            async (page) => {
              await readMakers(asked, page, makers)
              return ({ job }) => nameOf(makers.get(job)?.from)
            },
          )
        : listFiles(files, { limit: MOST, cursor }),
      cache.get('total of files', FRESH, () => totalOf(files)),
      endsOf(asked),
    ])
    await readMakers(asked, listed.files, makers)
    const all = listed.files.map((file) => ({ ...file, ...makers.get(file.job), ends: endOf(file.id) }))
    if (!cursor && listed.cursor === null) all.sort((a, b) => b.storedAt - a.storedAt)
    const open = all.find(({ id }) => id === query.get('open'))
    return { ...listed, files: all, total, wanted, open, text: open && (await textOf(files, open)) }
  },
  View: ({ data }) => (
    <>
      <Head title="Files" note={noteOf(data)}>
        {data.total && <Search label="Name, id, type or job" value={data.wanted} />}
      </Head>
      <div class="stack">
        {data.open && <Preview of={data.open} text={data.text} />}
        <Card>
          {data.files.length > 0 ? (
            <DataTable caption="Files" rows={data.files} columns={columns} kind="lined files" grows />
          ) : (
            data.cursor === null && <None data={data} />
          )}
          <Further
            cursor={data.cursor}
            changes={{ looked: data.looked?.toString() }}
            more="more files"
            rows={data.files.length}
            limit={MOST}
            searched={data.looked === undefined ? undefined : { where: many(data.looked, 'file') }}
          />
        </Card>
      </div>
    </>
  ),
  acts: {
    remove: {
      scope: 'write',
      confirm: ({ form }) => ({
        title: `Remove file ${given(form, 'file')}?`,
        text: ['This deletes the file, and its links stop working. It cannot be undone.'],
        verb: 'Remove it',
      }),
      async does({ form, call }) {
        await call('DELETE', apiPath('files', given(form, 'file')))
        return { say: `File ${given(form, 'file')} removed` }
      },
    },
  },
})
