import { expect } from 'vitest'
import type { Kit } from '../kit/index.ts'
import { createWorld } from './kit.ts'

export type Given = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: commands return any JSON.
type Body = any
type Answer = { code: number; status: string; body: Body; token: string | null }

const iso = (at: number) => new Date(at).toISOString()

export async function startBedrock(kit: Kit) {
  const world = await createWorld(kit)
  const answerOf = async (response: Response): Promise<Answer> => ({
    code: response.status,
    status: response.headers.get('x-bedrock-status')!,
    body: await response.json(),
    token: response.headers.get('x-bedrock-token'),
  })
  const send = async (command: string, given: Given = {}, init: RequestInit = {}) => {
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
    return answerOf(await world.ask('POST', `/bedrock/${command}`, headers, init.body ?? undefined))
  }
  const json = async (command: string, given: Given = {}) =>
    answerOf(
      await world.ask('POST', `/bedrock/${command}`, { 'content-type': 'application/json' }, JSON.stringify(given)),
    )
  const ok = async (command: string, given: Given = {}) => {
    const answer = await send(command, given)
    expect([command, answer.status]).toEqual([command, '200 OK'])
    return answer.body
  }
  const create = async (given: Given): Promise<number> => (await ok('CreateJob', given)).jobID
  const query = (jobID: number) => ok('QueryJob', { jobID })
  const state = async (jobID: number) => (await query(jobID)).state
  const get = (given: Given) => ok('GetJob', given)
  const finish = (jobID: number, more: Given = {}) => ok('FinishJob', { jobID, ...more })
  const refused = async (command: string, given: Given, status: string) => {
    const answer = await send(command, given)
    expect([command, answer.status, answer.body]).toEqual([
      command,
      status,
      { code: Number(status.slice(0, 3)), message: status },
    ])
    expect(answer.code).toBe(answer.body.code)
  }
  const time = (seconds: number) =>
    iso(world.noon + seconds * 1000)
      .slice(0, 19)
      .replace('T', ' ')
  return { ...world, send, json, ok, create, query, state, get, finish, refused, time }
}

export type Client = Awaited<ReturnType<typeof startBedrock>>

export const NO_JOB = '404 No job found'
export const UNKNOWN = '404 No job with this jobID'
export const NOT_RUNNING = '405 Can only retry/finish RUNNING and RUNQUEUED jobs'
export const BAD_DATA = '402 Data is not a valid JSON Object'

export async function family({ create, get }: Client, parent: Given = {}, child: Given = {}) {
  const P = await create({ name: 'parent', ...parent })
  expect((await get({ name: 'parent' })).jobID).toBe(P)
  const C1 = await create({ name: 'c1', parentJobID: P, ...child })
  const C2 = await create({ name: 'c2', parentJobID: P, ...child })
  return { P, C1, C2 }
}
