export class DeployFailure extends Error {
  override name = 'DeployFailure'
}

export class CloudflareError extends Error {
  override name = 'CloudflareError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type Advice = { when: RegExp; say: (link: (path: string) => string) => string }

const advices: Advice[] = [
  {
    when: /\b100328\b|CPU limits are not supported/i,
    say: () => 'The Free plan allows no CPU limit: remove [limits] from wrangler.toml, or change to Workers Paid.',
  },
  {
    when: /\b10143\b/,
    say: () =>
      'A binding in wrangler.toml names a Worker that does not exist: deploy that Worker first, or remove the binding.',
  },
  {
    when: /cron.*(limit|exceed|too many|maximum)|(limit|exceed|too many|maximum).*cron|\b10072\b/is,
    say: (link) =>
      'The Worker is deployed, but the account has the maximum number of cron triggers. Remove one ' +
      `(${link('workers-and-pages')}), or deploy with --no-cron: then QStash ticks each minute, 1,440 messages a day.`,
  },
  {
    when: /workers\.dev subdomain|\b10063\b/,
    say: (link) => `Choose a workers.dev subdomain at ${link('workers/onboarding')}, then deploy again.`,
  },
  {
    when: /\b(10000|9109|6003|6111)\b|Authentication error|Invalid (API|access) [Tt]oken|not logged in|non-interactive environment/i,
    say: () =>
      'Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN to a token of the template "Edit Cloudflare Workers".',
  },
  {
    when: /\b10027\b|exceeded the size limit|script is too large/i,
    say: () => 'The Worker is larger than the plan allows: leave functions out of functions/index.ts.',
  },
  {
    when: /fetch failed|ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|socket|network|timed? ?out/i,
    say: () => 'The network failed. Deploy again: completed steps are kept and not repeated.',
  },
]

export function adviceFor(words: string, account = '?to=/:account'): string | undefined {
  const link = (path: string) => `https://dash.cloudflare.com/${account}/${path}`
  return advices.find(({ when }) => when.test(words))?.say(link)
}
