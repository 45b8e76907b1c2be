import type { Files } from '../../core/files.ts'
import { type FilesTotal, listFiles, totalOf } from '../../http/files.ts'
import { queryWith } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Act } from '../parts/act.tsx'
import { Further } from '../parts/further.tsx'
import { Ago, Card, Empty, Head, JobId, Link } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given } from '../words/form.ts'
import { rowsText } from '../words/further.ts'
import { bytes, many } from '../words/text.ts'

type Listed = Awaited<ReturnType<typeof listFiles>>
type FilesData = Omit<Listed, 'files'> & {
  /** `from`: the downloaded URL. `ends`: time of the removal. */
  files: (Listed['files'][number] & { url: string; from?: string; ends?: number | null })[]
  isThere: boolean
  total?: FilesTotal
  wanted: string
  looked?: number
}

const MOST = 100
const PAGES = 10
/** Milliseconds. The total is expensive, because it is added up page by page. */
const FRESH = 10_000
/** Milliseconds, the length of a session. */
const SIGNED = 12 * 3_600_000

const fits = ({ id, type, job }: Listed['files'][number], wanted: string): boolean =>
  id.includes(wanted) || (type ?? '').includes(wanted.toLowerCase()) || `#${job}` === `#${wanted.replace(/^#/, '')}`

async function searched(files: Files, wanted: string, before: number, from?: string) {
  const found: Listed['files'] = []
  let [cursor, looked] = [from ?? null, before]
  for (let page = 0; page < PAGES && found.length < MOST; page++) {
    const listed = await listFiles(files, { limit: MOST, cursor: cursor ?? undefined })
    found.push(...listed.files.filter((file) => fits(file, wanted)))
    looked += listed.files.length
    cursor = listed.cursor
    if (cursor === null) break
  }
  return { files: found, cursor, looked }
}

const JOBS = 1_000

/** A job of class `download` stores a file from a URL; a job of class `reap` removes it. */
const jobsOf = ({ engine }: Pick<Asked, 'engine'>) =>
  Promise.all([
    engine.jobs.rows({ queue: 'downloader', class: 'download', limit: JOBS, paths: ['url'] }),
    engine.jobs.rows({ queue: 'files', class: 'reap', status: 'queued', limit: JOBS, paths: ['file'] }),
  ])

const NO_FILES: FilesData = { files: [], cursor: null, isThere: false, wanted: '' }

function noteOf({ files, cursor, total, looked }: FilesData): string {
  if (!total) return 'no bucket'
  return looked === undefined ? inAll(total) : rowsText(files.length, cursor, 'file')
}

function None({ data: { isThere, wanted } }: { data: FilesData }) {
  if (!isThere)
    return (
      <Empty>
        This deployment has no bucket, so it cannot store files. Bind an R2 bucket as <code>FILES</code>, then deploy.
      </Empty>
    )
  if (!wanted)
    return (
      <Empty act={<Link to="/jobs/new?queue=downloader&class=download">New download</Link>}>
        No files yet. A job of class download stores the file at its URL here.
      </Empty>
    )
  return <Empty act={<Link to="/files">Show all files</Link>}>No files match.</Empty>
}

const inAll = ({ files, bytes: size, more }: FilesTotal): string =>
  more ? `more than ${many(files, 'file')}, ${bytes(size)}` : `${many(files, 'file')}, ${bytes(size)}`

const way = (form: FormData): string => `/v1/files/${encodeURIComponent(given(form, 'file'))}`

/** The last part of the path of its URL, while the job that downloaded it is stored. */
const nameOf = (url = ''): string => url.replace(/[?#].*/s, '').replace(/.*\//s, '')

const columns: readonly Column<FilesData['files'][number]>[] = [
  {
    head: 'File',
    kind: 'fill',
    title: ({ from }) => from,
    cell: ({ id, from }) => (
      <>
        {nameOf(from)} <b class="mono">{id}</b>
      </>
    ),
  },
  { head: 'Type', kind: 'mono', label: 'type', cell: ({ type }) => type ?? '–' },
  { head: '#Size', label: 'size', cell: ({ size }) => bytes(size) },
  { head: 'Stored by', label: 'stored by', cell: ({ job }) => (job === null ? '–' : <JobId id={job} />) },
  { head: 'Stored', kind: 'dim', label: 'stored', cell: ({ storedAt }) => <Ago at={storedAt} /> },
  { head: '#Expires', kind: 'dim', label: 'expires', cell: ({ ends }) => (ends ? <Ago at={ends} /> : 'never') },
  {
    head: '-Acts',
    cell: ({ id, url }) => (
      <span class="row">
        <a class="btn small" href={url} download aria-label={`Download ${id}`}>
          Download
        </a>
        <Act act="remove" scope="write" fields={{ file: id }} kind="danger" small label={`Remove ${id}`}>
          Remove
        </Act>
      </span>
    ),
  },
]

const nextOf = ({ cursor, looked }: FilesData, query: URLSearchParams): string | undefined =>
  cursor === null ? undefined : `/files${queryWith(query.toString(), { cursor, looked: looked?.toString() })}`

export const files = page<FilesData>({
  path: '/files',
  nav: 'files',
  every: 0,
  async load({ engine, deps, query, cache }) {
    if (!deps.downloads) return NO_FILES
    const { files } = deps.downloads
    const wanted = query.get('q')?.trim().slice(0, 200) ?? ''
    const cursor = query.get('cursor') ?? undefined
    const [listed, total, [downloads, reapers]] = await Promise.all([
      wanted
        ? searched(files, wanted, Number(query.get('looked')) || 0, cursor)
        : listFiles(files, { limit: MOST, cursor }),
      cache.get('total of files', FRESH, () => totalOf(files)),
      cache.get('jobs of files', FRESH, () => jobsOf({ engine })),
    ])
    const all = listed.files.map(async (file) => ({
      ...file,
      url: (await files.sign(file.id, SIGNED)).url,
      from: downloads.jobs.find(({ id }) => id === file.job)?.args?.url as string | undefined,
      ends: reapers.jobs.find(({ args }) => args?.file === file.id)?.runAt,
    }))
    return { ...listed, files: await Promise.all(all), total, isThere: true, wanted }
  },
  title: () => 'Files',
  View: ({ data, query }) => (
    <>
      <Head title="Files" note={noteOf(data)}>
        {data.isThere && <Search at="/files" label="Id, type or job" hint="Id, type or job" value={data.wanted} />}
      </Head>
      <Card>
        {data.files.length > 0 ? (
          <DataTable caption="Files" rows={data.files} columns={columns} kind="lined files" grows />
        ) : (
          data.cursor === null && <None data={data} />
        )}
        <Further
          to={nextOf(data, query)}
          more="more files"
          rows={data.files.length}
          limit={MOST}
          searched={data.looked === undefined ? undefined : { where: many(data.looked, 'file') }}
        />
      </Card>
    </>
  ),
  acts: {
    remove: {
      scope: 'write',
      confirm: ({ form }) => ({
        title: `Remove file ${given(form, 'file')}?`,
        text: ['Links to the file stop working. This cannot be undone.'],
        verb: 'Remove it',
      }),
      async does({ form, call }) {
        await call('DELETE', way(form))
        return { say: `File ${given(form, 'file')} removed` }
      },
    },
  },
})
