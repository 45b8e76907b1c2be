import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { slug } from '../../infra/docs/pages.ts'
import { root } from './blocks.ts'
import { questions } from './questions.ts'

function sectionOf(page: string, heading: string): string | undefined {
  const text = readFileSync(join(root, `docs/${page}.md`), 'utf8')
  // A line of a shell snippet that begins with `#` is not a heading.
  const parts = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/^#/gm, ' #')).split(/^(?=#{1,6} )/m)
  const at = parts.findIndex((part) => slug(/^#+ (.*)/.exec(part)?.[1] ?? '') === slug(heading))
  if (at < 0) return undefined
  const level = /^#+/.exec(parts[at]!)![0].length
  // The text of a page before its first section belongs to its title.
  const end =
    level === 1 ? at : parts.findIndex((part, i) => i > at && (/^#+/.exec(part)?.[0].length ?? 9) <= level) - 1
  return parts.slice(at, end < at ? undefined : end + 1).join('')
}

test.each(questions)('%s: docs/%s.md, %s', (_question, page, heading, answer) => {
  const section = sectionOf(page, heading)
  expect(section, `${page}.md has no heading "${heading}"`).toBeDefined()
  expect(section).toMatch(answer)
})

test('30 questions have an answer', () => expect(questions).toHaveLength(30))
