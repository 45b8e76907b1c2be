export function Toast({ text }: { text: string }) {
  return (
    <p class="toast" role="status">
      {text}
    </p>
  )
}
