import type { Notice } from '../core/alert.ts'
import { hashOf } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import { addressIn } from '../core/url.ts'
import { webhookHeaders } from '../engine/remote/sign.ts'

export type AlertMessage = Pick<Notice, 'key' | 'what'> & {
  text: string
  rule: string
  since: number
  link: string
  isSevere: boolean
  at: number
}

type Call = { url: string; headers: Record<string, string>; body: string }

/** Stored jobs refer to a target by its `name`. `call` reads the secrets when the message is sent. */
export type AlertTarget = {
  name: string
  call: (message: AlertMessage, env: Record<string, string | undefined>) => Call | Promise<Call>
}

function settingIn(env: Record<string, string | undefined>, name: string): string {
  const value = env[name]
  if (value) return value
  throw new SidejobError('MISCONFIGURED', `${name} is not set: run npx wrangler secret put ${name}`)
}

const JSON_TYPE = { 'content-type': 'application/json' }

const headings = { begins: '', lasts: 'Still: ', 'is over': 'Resolved: ' } as const

export const sentenceOf = ({ what, text }: Pick<AlertMessage, 'what' | 'text'>): string => headings[what] + text

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Slack reads `<!channel>` as a mention. */
const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character]!)

/**
 * Sends to a Slack channel. `setting` is the name of the secret that contains the URL of an incoming webhook.
 *
 * @example slack('SLACK_WEBHOOK')
 */
export const slack = (setting: string): AlertTarget => ({
  name: `slack ${setting}`,
  call(message, env) {
    const url = addressIn(setting, settingIn(env, setting))
    const since = `<!date^${Math.floor(message.since / 1_000)}^since {time}|since ${new Date(message.since).toISOString()}>`
    const text = `${escaped(sentenceOf(message))} (${since}) <${message.link}|Open>`
    return { url, headers: JSON_TYPE, body: JSON.stringify({ text }) }
  },
})

const PAGER_DUTY = 'https://events.pagerduty.com/v2/enqueue'

/**
 * Opens a PagerDuty incident, and resolves it when the problem is over.
 *
 * @example pagerDuty('PAGERDUTY_KEY')
 */
export const pagerDuty = (setting: string, url = PAGER_DUTY): AlertTarget => ({
  name: `pagerduty ${setting}`,
  call(message, env) {
    const { key, what, text, link, isSevere, at } = message
    const event = {
      routing_key: settingIn(env, setting),
      event_action: what === 'is over' ? 'resolve' : 'trigger',
      dedup_key: `${new URL(link).origin} ${key}`.slice(0, 255),
      payload: {
        summary: text.slice(0, 1_024),
        source: new URL(link).host,
        severity: isSevere ? 'error' : 'warning',
        timestamp: new Date(at).toISOString(),
      },
      links: [{ href: link, text: 'Open' }],
    }
    return { url, headers: JSON_TYPE, body: JSON.stringify(event) }
  },
})

/**
 * Posts JSON. If `secret` names a secret (`whsec_…`), the message is signed as a Standard Webhook.
 *
 * @example webhook('https://ops.example.com/alerts', { secret: 'ALERT_SECRET' })
 */
export const webhook = (url: string, { secret }: { secret?: string } = {}): AlertTarget => ({
  name: `webhook ${url}`,
  async call(message, env) {
    const { key, what, rule, since, link, at } = message
    const iso = (ms: number) => new Date(ms).toISOString()
    const body = JSON.stringify({
      alert: key,
      what,
      rule,
      text: sentenceOf(message),
      since: iso(since),
      at: iso(at),
      link,
    })
    const secrets = secret ? [settingIn(env, secret)] : []
    // Receivers drop an id that they know, and a header accepts only ASCII.
    const id = await hashOf(`${key} ${what} ${at}`)
    const signed = secret ? await webhookHeaders(id, new TextEncoder().encode(body), secrets, at) : {}
    return { url, headers: { ...JSON_TYPE, ...signed }, body }
  },
})
