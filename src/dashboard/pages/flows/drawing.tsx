export function Drawing({ label }: { label: string }) {
  return (
    <svg data-board viewBox="0 0 800 400" preserveAspectRatio="xMidYMid meet" role="application" aria-label={label} />
  )
}
