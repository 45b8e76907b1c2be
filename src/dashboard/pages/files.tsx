import { decodeValue } from '../../core/codec/value.ts'
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
type FilesData = Listed & {
  isThere: boolean
  total?: FilesTotal
  /** File → time of its removal. */
  ends: Map<string, number>
  wanted: string
  looked?: number
}

const MOST = 100
const PAGES = 10
/** Milliseconds. The total is expensive, because it is added up page by page. */
const FRESH = 10_000

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

const REAPERS = 1_000

/** A job of class `reap` removes each file; its args name the file. */
async function endsOf({ engine }: Pick<Asked, 'engine'>): Promise<FilesData['ends']> {
  const { jobs } = await engine.jobs.list({ queue: 'files', class: 'reap', status: 'queued', limit: REAPERS })
  const found = jobs.flatMap(({ args, runAt }): [string, number][] => {
    const { file } = Object(args === null ? null : decodeValue(args)) as { file?: unknown }
    return typeof file === 'string' && runAt !== null ? [[file, runAt]] : []
  })
  return new Map(found)
}

const NO_FILES: FilesData = { files: [], cursor: null, isThere: false, ends: new Map(), wanted: '' }

function noteOf({ files, cursor, total, looked }: FilesData): string {
  if (!total) return 'no bucket'
  return looked === undefined ? inAll(total) : rowsText(files.length, cursor, 'file')
}

function None({ data: { isThere, wanted } }: { data: FilesData }) {
  if (!isThere) return <Empty>This deployment has no bucket, so it cannot store files.</Empty>
  if (!wanted) return <Empty>No files yet. Jobs of the class `download` store files.</Empty>
  return <Empty act={<Link to="/files">Show all files</Link>}>No files match.</Empty>
}

const inAll = ({ files, bytes: size, more }: FilesTotal): string =>
  more ? `more than ${many(files, 'file')}, ${bytes(size)}` : `${many(files, 'file')}, ${bytes(size)}`

const way = (form: FormData): string => `/v1/files/${encodeURIComponent(given(form, 'file'))}`

const columnsOf = (ends: FilesData['ends']): readonly Column<Listed['files'][number]>[] => [
  { head: 'File', cell: ({ id }) => <b class="mono">{id}</b> },
  { head: 'Type', kind: 'mono', cell: ({ type }) => type ?? '–' },
  { head: '#Size', cell: ({ size }) => bytes(size) },
  { head: 'Job', cell: ({ job }) => (job === null ? '–' : <JobId id={job} />) },
  { head: 'Stored', kind: 'fill dim', cell: ({ storedAt }) => <Ago at={storedAt} /> },
  { head: '#Expires', kind: 'dim', cell: ({ id }) => (ends.has(id) ? <Ago at={ends.get(id)!} /> : 'never') },
  {
    head: '-Acts',
    cell: ({ id }) => (
      <span class="row">
        <Act act="address" scope="read" fields={{ file: id }} small label={`Get link to ${id}`}>
          Get link
        </Act>
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
    const [listed, total, ends] = await Promise.all([
      wanted
        ? searched(files, wanted, Number(query.get('looked')) || 0, cursor)
        : listFiles(files, { limit: MOST, cursor }),
      cache.get('total of files', FRESH, () => totalOf(files)),
      cache.get('ends of files', FRESH, () => endsOf({ engine })),
    ])
    return { ...listed, total, ends, isThere: true, wanted }
  },
  title: () => 'Files',
  View: ({ data, query }) => (
    <>
      <Head title="Files" note={noteOf(data)}>
        {data.isThere && <Search at="/files" label="Id, type or job" hint="Id, type or job" value={data.wanted} />}
      </Head>
      <Card>
        {data.files.length > 0 ? (
          <DataTable caption="Files" rows={data.files} columns={columnsOf(data.ends)} grows />
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
    address: {
      scope: 'read',
      async does({ form, call }) {
        const { url } = (await call('GET', way(form))) as { url: string }
        return { say: `Link to ${given(form, 'file')}, valid for an hour:`, copy: url }
      },
    },
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
