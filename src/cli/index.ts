#!/usr/bin/env node
// sidejob <command>: what people do from a shell. Everything but the commands for a project goes over the API.

import { main } from './main.ts'

process.exitCode = await main(process.argv.slice(2))
