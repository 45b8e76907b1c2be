const fields = 'input:not([type=hidden], [type=checkbox], [disabled]), textarea:not([disabled]), select:not([disabled])'

function focusIn(form: Element | null | undefined): void {
  const field = form?.querySelector<HTMLElement>('[autofocus]') ?? form?.querySelector<HTMLElement>(fields)
  if (!field || field.offsetParent === null) return
  field.scrollIntoView({ block: 'center' })
  field.focus({ preventScroll: true })
  if (field instanceof HTMLInputElement) field.select()
}

function focusOpened(): void {
  const name = decodeURIComponent(location.hash.slice(1))
  const anchor = name ? document.getElementById(name) : null
  // "Skip to content" leads to the page, not to its first field.
  if (anchor?.matches('main')) return
  focusIn(anchor ?? document.querySelector('form[data-opened]'))
}

export function startOpened(): void {
  // Set the focus after the load, because the load itself moves the focus to the anchor.
  if (document.readyState === 'complete') focusOpened()
  else addEventListener('load', () => setTimeout(focusOpened))
  addEventListener('hashchange', focusOpened)
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.open && target.matches('.more:has(.menu > :only-child)'))
        focusIn(target)
    },
    true,
  )
}
