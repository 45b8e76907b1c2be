#!/usr/bin/env node

// Other modules are imported after this check, because an older Node would fail on them without this message.
const OLDEST = 22
const major = Number(process.versions.node.split('.')[0])
if (major < OLDEST) {
  console.error(
    `sidejob needs Node ${OLDEST} or newer, but this is ${process.version}. Install a newer version from https://nodejs.org or with your version manager (nvm install ${OLDEST})`,
  )
  process.exit(1)
}

// A reader such as `head` closes the pipe after some lines. This is not an error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })

const { main } = await import('./main.ts')
process.exitCode = await main(process.argv.slice(2))

export {}
