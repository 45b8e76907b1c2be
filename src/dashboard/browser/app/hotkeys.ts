const SETTING = 'sidejob-keys'

export const areKeysOff = (): boolean => localStorage.getItem(SETTING) === 'off'

export const switchKeys = (on: boolean): void => localStorage.setItem(SETTING, on ? 'on' : 'off')

export const shownWithKey = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('[data-hotkey]')].filter(({ offsetParent }) => offsetParent !== null)
