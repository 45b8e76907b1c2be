import { expect, test } from 'vitest'
import { fitsGlob } from '../../src/core/glob.ts'

const expression = (glob: string) =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '[\\s\\S]*')
      .replaceAll('?', '[\\s\\S]')}$`,
    'u',
  )

test('every short glob fits the texts that its regular expression fits', () => {
  const words = (letters: string[], longest: number): string[] =>
    longest === 0
      ? ['']
      : ['', ...letters.flatMap((letter) => words(letters, longest - 1).map((rest) => letter + rest))]
  const texts = [...new Set(words(['a', 'b', '🙂'], 3))]
  for (const glob of new Set(words(['a', '*', '?', '.'], 4)))
    for (const text of texts)
      expect([glob, text, fitsGlob(glob, text)]).toEqual([glob, text, expression(glob).test(text)])
})

test('a foreign glob and a long text delay no other caller', () => {
  const began = performance.now()
  for (const glob of ['*a*b', '*a*a*a*a*a*b', `${'*a'.repeat(127)}b`])
    expect(fitsGlob(glob, 'a'.repeat(1_000_000))).toBe(false)
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('only the first 1,000 characters of a text are examined', () => {
  expect(fitsGlob('a*', 'a'.repeat(5_000))).toBe(true)
  expect(fitsGlob('*b', `${'a'.repeat(1_000)}b`)).toBe(false)
})
