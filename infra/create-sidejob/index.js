#!/usr/bin/env node
// `npm create sidejob my-jobs` runs `sidejob create my-jobs`.

process.argv.splice(2, 0, 'create')
await import('sidejob/cli')
