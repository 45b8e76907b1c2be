import { describe, expect, test } from 'vitest'
import { startGateway } from '../../infra/stand-ins/gateway.ts'
import { findServer, startRedis } from '../../infra/stand-ins/redis.ts'
import { connect } from '../../infra/stand-ins/resp.ts'
import { clients, exercise, sha1 } from './exercise-gateway.ts'

exercise('embedded', () => startRedis({ force: 'embedded', persist: false }))

describe.skipIf(!findServer())('with a server of this machine', () => {
  exercise('server', () => startRedis({ force: 'server', persist: false }))

  test('after a restart of Redis the scripts are gone, and the gateway continues', async () => {
    const first = await startRedis({ force: 'server', persist: false })
    const gateway = await startGateway({ redis: first, token: 'secret' })
    const { plain, ask } = clients(gateway)
    const script = "return 'here'"
    expect(await plain.eval(script, [], [])).toBe('here')
    await first.close()
    expect(await ask('/ping')).toMatchObject({ status: 503, body: { error: expect.stringContaining(`${first.port}`) } })

    const second = await startRedis({ force: 'server', persist: false, port: first.port })
    await expect(plain.evalsha(sha1(script), [], [])).rejects.toThrow(/^NOSCRIPT/)
    expect(await plain.createScript(script).exec([], [])).toBe('here')
    await gateway.close()
    await second.close()
  })
})

test('close ends the subscriptions and frees the port', async () => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  const gateway = await startGateway({ redis, token: 'secret' })
  const open = await fetch(`${gateway.url}/subscribe/chat`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
  })
  await expect(startGateway({ redis, token: 'secret', port: gateway.port })).rejects.toThrow(
    `the gateway needs 127.0.0.1:${gateway.port}, which another process uses`,
  )
  await gateway.close()
  await open.text().catch(() => {})
  const next = await startGateway({ redis, token: 'secret', port: gateway.port })
  await next.close()
  await redis.close()
  await expect(connect(redis)).rejects.toThrow(/no Redis answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
})
