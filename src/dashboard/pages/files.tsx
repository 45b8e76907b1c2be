// Files that jobs have stored: which there are, an address for an hour, and removing one.

import { decodeValue } from '../../core/codec/value.ts'
import { type FilesTotal, listFiles, totalOf } from '../../http/files.ts'
import { queryWith } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Card, Empty, Head, Heads, JobId, To } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'
import { given } from '../words/form.ts'
import { bytes, many } from '../words/number.ts'

type FilesData = Awaited<ReturnType<typeof listFiles>> & {
  isThere: boolean
  total?: FilesTotal
  /** File → when it goes. */
  ends: Map<string, number>
}

const MOST = 100
/** The total is added up page by page: all who look share it for ten seconds. */
const FRESH = 10_000

/** So many jobs are looked at that remove files. */
const REAPERS = 1_000

/** When files go: each by a job of the library, which says so in its args. */
async function endsOf({ engine }: Pick<Asked, 'engine'>): Promise<FilesData['ends']> {
  const { jobs } = await engine.list({ queue: 'files', class: 'reap', status: 'queued', limit: REAPERS })
  const found = jobs.flatMap(({ args, runAt }): [string, number][] => {
    const { file } = Object(args === null ? null : decodeValue(args)) as { file?: unknown }
    return typeof file === 'string' && runAt !== null ? [[file, runAt]] : []
  })
  return new Map(found)
}

const inAll = ({ files, bytes: size, more }: FilesTotal): string =>
  more ? `more than ${many(files, 'file')}, ${bytes(size)}` : `${many(files, 'file')}, ${bytes(size)}`

const way = (form: FormData): string => `/v1/files/${encodeURIComponent(given(form, 'file'))}`

export const files = page<FilesData>({
  path: '/files',
  nav: 'files',
  every: 0,
  async load({ engine, deps, query, shared }) {
    if (!deps.downloads) return { files: [], cursor: null, isThere: false, ends: new Map() }
    const { files } = deps.downloads
    const page = { limit: MOST, cursor: query.get('cursor') ?? undefined }
    const [listed, total, ends] = await Promise.all([
      listFiles(files, page),
      shared('total of files', FRESH, () => totalOf(files)),
      shared('ends of files', FRESH, () => endsOf({ engine })),
    ])
    return { ...listed, total, ends, isThere: true }
  },
  title: () => 'Files',
  View: ({ data: { files, cursor, isThere, total, ends }, query }) => (
    <>
      <Head title="Files" note={total ? inAll(total) : 'no bucket'} />
      <Card>
        {files.length === 0 && (
          <Empty>
            {isThere
              ? 'No file is stored. Jobs of the class `download` store them.'
              : 'This deployment has no bucket, and so stores no files.'}
          </Empty>
        )}
        <table class="tbl">
          <caption class="vh">Files</caption>
          <Heads names={['File', 'Type', 'Size', 'Job', 'Stored', 'Goes', 'Acts']} />
          <tbody>
            {files.map(({ id, size, type, job, storedAt }) => (
              <tr>
                <td>
                  <b class="mono">{id}</b>
                </td>
                <td class="mono">{type ?? '–'}</td>
                <td class="num">{bytes(size)}</td>
                <td>{job === null ? '–' : <JobId id={job} />}</td>
                <td class="fill dim">
                  stored <Ago at={storedAt} />
                </td>
                <td class="num dim">
                  {ends.has(id) ? (
                    <>
                      goes <Ago at={ends.get(id)!} />
                    </>
                  ) : (
                    'stays until it is removed'
                  )}
                </td>
                <td class="num">
                  <span class="row">
                    <Button
                      act="address"
                      scope="read"
                      fields={{ file: id }}
                      small
                      label={`An address of ${id} for an hour`}
                    >
                      Address
                    </Button>
                    <Button act="remove" scope="write" fields={{ file: id }} kind="danger" small label={`Remove ${id}`}>
                      Remove
                    </Button>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {cursor && (
          <p class="further">
            <To kind="btn small" to={`/files${queryWith(query.toString(), { cursor })}`}>
              Further
            </To>
          </p>
        )}
      </Card>
    </>
  ),
  acts: {
    address: {
      scope: 'read',
      async does({ form, call }) {
        const { url } = (await call('GET', way(form))) as { url: string }
        return { say: `Good for an hour: ${url}` }
      },
    },
    remove: {
      scope: 'write',
      confirm: ({ form }) => ({
        title: `Remove file ${given(form, 'file')}?`,
        text: ['It is gone for everybody who has its address.'],
        verb: 'Remove it',
      }),
      async does({ form, call }) {
        await call('DELETE', way(form))
        return { say: `File ${given(form, 'file')} is removed` }
      },
    },
  },
})
