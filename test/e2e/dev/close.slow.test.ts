import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { startDev } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { makeProject } from './project.ts'

type Process = { pid: number; parent: number; group: number; command: string }

const processes = (): Process[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,pgid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent, group, ...command] = line.trim().split(/\s+/)
      return { pid: Number(pid), parent: Number(parent), group: Number(group), command: command.join(' ') }
    })

test.skipIf(process.platform !== 'linux')(
  'a host that does not end in time is killed with all processes that it started',
  async () => {
    const project = makeProject()
    const stack = await startDev({ project: project.dir, port: 0, redis: kind, persist: false })
    const host = processes().find(({ parent, command }) => parent === process.pid && command.includes('/dev/host'))!
    const group = () => processes().filter((one) => one.group === host.pid)
    expect(group().some(({ command }) => command.includes('esbuild'))).toBe(true)
    process.kill(host.pid, 'SIGSTOP')
    await stack.close()
    await expect.poll(() => group().filter(({ command }) => !command.includes('<defunct>'))).toEqual([])
    project.remove()
  },
)
