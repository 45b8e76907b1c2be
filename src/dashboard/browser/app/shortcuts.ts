import { closeButton, openDialog } from './dialog.ts'
import { areKeysOff, shownWithKey, switchKeys } from './hotkeys.ts'
import { made } from './page.ts'

type Shortcuts = [keys: string, what: string][]

const ofLists: Shortcuts = [
  ['j k', 'Move down, up'],
  ['Enter o space', 'Open, open in a new tab, preview'],
  ['x', 'Select one'],
  ['shift x', 'Select a range'],
  ['a Esc', 'Select all matches, none'],
  ['.', 'Show new rows'],
]

const everywhere: Shortcuts = [
  ['/', 'Search or filter'],
  ['⌘K', 'Open the palette'],
  ['t d z', 'Change theme, density, time zone'],
  ['p', 'Pause refreshes'],
  ['c', 'Go to the form'],
  ['u', 'Undo'],
  ['?', 'Show this list'],
]

const labelOf = ({ ariaLabel, childNodes }: HTMLElement): string =>
  ariaLabel ??
  [...childNodes]
    .filter((node) => !(node instanceof Element && node.matches('kbd, .n')))
    .map(({ textContent }) => textContent)
    .join('')
    .trim()

function groupOf(title: string, shortcuts: Shortcuts): HTMLElement[] {
  if (shortcuts.length === 0) return []
  const list = made('dl')
  for (const [keys, what] of shortcuts) {
    const marks = keys.split(' ').flatMap((key) => [made('kbd', {}, key), ' '])
    list.append(made('div', {}, made('dt', {}, ...marks), made('dd', {}, what)))
  }
  return [made('h3', {}, title), list]
}

/** If `isRow` is true, `x` selects the current row. */
export function openShortcuts(hasList: boolean, isRow: boolean): void {
  if (document.querySelector('dialog[open]')) return
  const own = new Map(shownWithKey().map((one) => [one.dataset.hotkey!, labelOf(one)]))
  if (isRow) own.delete('x')
  const isFree = ([keys]: Shortcuts[number]) => !own.has(keys)
  const goes = [...document.querySelectorAll<HTMLElement>('.nav [data-go]')]
  const groups = made(
    'div',
    { className: 'groups' },
    made(
      'div',
      {},
      ...groupOf('This page', [...own]),
      ...groupOf('Lists', hasList ? ofLists.filter(isFree) : []),
      ...groupOf('Everywhere', everywhere.filter(isFree)),
    ),
    made(
      'div',
      {},
      ...groupOf(
        'Go to',
        goes.map(({ dataset, title }) => [`g ${dataset.go}`, title]),
      ),
    ),
  )
  const onchange = () => switchKeys(box.checked)
  const box = made('input', { type: 'checkbox', className: 'check', checked: !areKeysOff(), onchange })
  const head = made('div', { className: 'row' }, made('h2', { className: 'grow' }, 'Keyboard shortcuts'), closeButton())
  const label = made('label', { className: 'rowf' }, box, 'Enable keyboard shortcuts')
  openDialog([head, label, groups], { kind: 'keys', label: 'Keyboard shortcuts', isLight: true })
}
