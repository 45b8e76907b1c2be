import { Hono } from 'hono'
import { createWorker } from 'sidejob/cloudflare'
import { dashboard } from 'sidejob/dashboard'
import { functions } from './jobs/index.ts'

const jobs = createWorker<Env>({ functions, mount: '/_sidejob', dashboard: dashboard() })

const app = new Hono<{ Bindings: Env }>()

app.get('/', (c) => c.text('POST /numbers with a list of numbers; jobs are under /_sidejob'))

app.post('/numbers', async (c) => {
  const numbers = await c.req.json<number[]>()
  const { id } = await jobs.client(c.env).jobs.enqueue({ class: 'double', inputs: { n: numbers } })
  return c.json({ job: id }, 201)
})

export default jobs.with(app)
