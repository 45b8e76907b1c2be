import { expect, test } from 'vitest'
import { cpuOf, createWatchdog } from '../../src/dev/watchdog.ts'

function watched() {
  const state = { pid: 7 as number | undefined, cpu: 0, alive: true, ended: [] as number[] }
  const look = createWatchdog({
    pid: () => state.pid,
    cpuOf: () => state.cpu,
    isAlive: async () => state.alive,
    onLoop: (pid) => void state.ended.push(pid),
  })
  return { state, look }
}

test('a process that uses 30 s of CPU without answering is ended', async () => {
  const { state, look } = watched()
  await look()
  state.alive = false
  for (let cpu = 1; cpu <= 30; cpu++) {
    state.cpu = cpu
    await look()
    expect(state.ended).toEqual(cpu < 30 ? [] : [7])
  }
})

test('an answering process may use any CPU, and a waiting one may wait', async () => {
  const { state, look } = watched()
  for (let cpu = 0; cpu < 300; cpu += 10) {
    state.cpu = cpu
    await look()
  }
  state.alive = false
  for (let n = 0; n < 300; n++) await look()
  expect(state.ended).toEqual([])
})

test('the CPU time of a replacement process starts at zero', async () => {
  const { state, look } = watched()
  await look()
  Object.assign(state, { alive: false, cpu: 25 })
  await look()
  Object.assign(state, { pid: 8, cpu: 10 })
  await look()
  state.cpu = 39
  await look()
  expect(state.ended).toEqual([])
  state.cpu = 40
  await look()
  expect(state.ended).toEqual([8])
})

test.skipIf(process.platform !== 'linux')('the measured CPU time of a process matches its own report', () => {
  const { user, system } = process.cpuUsage()
  expect(Math.abs(cpuOf(process.pid)! - (user + system) / 1e6)).toBeLessThan(0.5)
})
