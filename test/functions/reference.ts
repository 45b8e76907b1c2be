// Texts of docs/functions.md that do not come from the definitions of the functions.

export const groups: Record<string, string[]> = {
  'Combine the values of several ports': ['array', 'object', 'concat', 'merge'],
  'Take values apart': ['each', 'key_value', 'split'],
  'Change lists': ['flatten', 'groups_of', 'join', 'zip', 'product', 'permutation', 'repeat'],
  'Compute with jq': ['filter'],
  'Pass on and hold back values': ['connect', 'delay', 'wait', 'wait_each', 'map', 'set_default'],
  'Build flows': ['flow', 'placeholder', 'widget'],
}

export const notes: Record<string, string> = {
  flow: 'If a node fails, the flow fails too, but the other nodes continue ([flows.md](flows.md)).',
  filter: `The engine is jq 1.8, compiled to WebAssembly. Each run has its own invocation with 128 MB of memory and 30 s of CPU
time, so a filter that needs more does not affect other runs. A filter cannot import modules. The output of \`debug\` is
discarded.`,
  map: `Connect a job that reads the elements from output port \`each\`, and writes one result for each of them to input port
\`each\`.`,
}

export const meanings: Record<string, Record<string, string>> = {
  array: { 'in *': 'elements of the list', 'out out': 'list with one value from each port' },
  object: { 'in *': 'members of the object', 'out out': 'object with one value from each port' },
  concat: { 'in *': 'lists to join', 'out out': 'joined list' },
  merge: { 'in *': 'objects to merge', 'out out': 'merged object' },
  each: { 'in in': 'list or object to take apart', 'out out': 'elements of the list, or entries of the object' },
  key_value: {
    'in in': 'object to take apart',
    'out *': 'values of one key; create the job with a port for each key that you need',
  },
  split: { 'in sep': 'separator', 'in in': 'string to split', 'out out': 'list of the parts' },
  flatten: {
    'in in': 'list or object to flatten',
    'in level':
      'number of levels to flatten; a negative number flattens all levels. If it is not a number, a list is flattened completely, and an object by one level',
    'out out': 'flattened list',
  },
  groups_of: {
    'in in': 'list to cut',
    'in size': 'number of elements in each group, from 1 to 100,000; a fraction is cut off',
    'in fill': 'element that fills up the last group; `false` leaves the group short',
    'out out': 'list of the groups',
  },
  join: { 'in sep': 'separator', 'in in': 'list to join', 'out out': 'joined string' },
  zip: {
    'in in': 'list that contains at least one list',
    'out out': 'list of the groups, one for each element of the first list',
  },
  product: { 'in in': 'list that contains at least one list', 'out out': 'list of the selections' },
  permutation: {
    'in ordered': '`true` if the order of the selected elements matters',
    'in repeat': '`true` if an element can be selected several times',
    'in n': 'number of elements to select, at most 1,000; a fraction is cut off',
    'in in': 'list of the elements',
    'out out': 'list of the selections',
  },
  repeat: {
    'in times': 'number of copies, from 0 to 100,000; a fraction is cut off',
    'in in': 'value to copy',
    'out out': 'list of the copies',
  },
  filter: { 'in filter': 'jq filter', 'in in': 'values to filter', 'out out': 'results of the filter' },
  connect: { 'in in': 'values to move', 'out out': 'the same values' },
  delay: {
    'in delay': 'delay of one value in seconds, at most 100 years',
    'in in': 'values to delay',
    'out out': 'delayed values',
  },
  wait: {
    'in trigger': 'signals; each passes on one value',
    'in in': 'values to hold back',
    'out out': 'values that were passed on',
  },
  wait_each: {
    'in each': 'elements that have arrived; a default of this port is ignored',
    'in in': 'lists to hold back',
    'out out': 'lists that were passed on',
  },
  map: {
    'in in': 'list whose elements are written; an object counts as the list of its entries `[key, value]`',
    'in each': 'results, one for each element',
    'out each': 'elements of the current list',
    'out out': 'list of the results, in the order in which they arrived',
  },
  set_default: { 'in in': 'values to use as the default', 'out out': 'no values, only the default' },
  flow: {
    'in __graph': '[graph](flows.md#the-graph) to run',
    'in *': 'values for the input ports of the graph',
    'out *': 'values from the output ports of the graph',
  },
  placeholder: { 'in *': 'values for a later node', 'out *': 'no values' },
  widget: { 'in *': 'values that the page or person reads', 'out *': 'values that the page or person writes' },
  download: {
    url: 'URL to download, with `http` or `https`; internal addresses are refused',
    host: 'host of the URL; a [constraint](concurrency.md) can match this arg, but not a part of `url`',
    askedAt:
      'time of the request, in milliseconds since 1970 (default: when the job was created); it is part of the id of the file',
    headers: 'HTTP headers of the request; after a redirect to another origin, they are not sent',
    maxSize: 'maximum size of the file in bytes (default: `SIDEJOB_DOWNLOAD_MAX_BYTES`, which is also the upper limit)',
    mimeType: 'types that the file must match, separated by commas; `!` excludes a type, as in `image/*,!image/gif`',
    imageSize: '`true` to return the width and height of a JPEG, PNG, GIF or WebP image',
    dedup:
      '`true` to return the file of an earlier download if the server answers that the file has not changed; ignored with `bucket`, and with headers that may identify the caller',
    keep: 'time in milliseconds after which the file is deleted (default: 30 days); ignored with `bucket`',
    bucket:
      'S3 bucket that receives the file instead of `FILES`: `{ name, region, endpoint?, metadata? }`; `endpoint` is the origin of a server other than AWS; [`SIDEJOB_S3_BUCKETS`](settings.md) must list the bucket; sidejob never deletes the file',
  },
}

export const start = `# The standard library

<!-- keywords: built-in functions, jq, filter, download, HTTP request, library -->

The standard library has small functions that move and change values. Connect them in a [flow](flows.md), or start
them from your own functions. They are job classes in queue \`core\`, except the two that [download files](#download).

INDEX

**Download files**

- [\`download\`](#download): Downloads a URL into a bucket, and returns the type, size and checksums of the file.
- [\`reap\`](#reap): Deletes a downloaded file.

## Add the functions to your Worker

\`\`\`ts
import { createWorker } from 'sidejob/cloudflare'
import { core } from 'sidejob/functions'
import { downloads } from 'sidejob/functions/download'
import { functions } from './jobs/index.ts'

export default createWorker({
  functions: [...functions, ...core],
  storing: downloads, // only for downloads: needs an R2 bucket with the binding FILES
})
\`\`\`

This call in one of your functions creates a child job that runs \`zip\`:

\`\`\`ts
job.spawn('pairs', { queue: 'core', class: 'zip' }, { inputs: { in: [[[1, 2], ['a', 'b']]] } })
\`\`\`

## Common rules

These rules apply to all functions in queue \`core\`. The sections below do not repeat them, but describe exceptions.

- **Input.** A function reads one value from each input port. It repeats this as long as every port has a value or a
  default, and at least one port has a value. If a port has neither, the values of the other ports stay there, and the
  job is suspended until more values arrive. Without any input, the job is completed and writes nothing.
- **Defaults.** If every input port has a default, the function also runs once with only the defaults, and its result
  becomes the default of the output port. It runs again when a default changes.
- **Types.** If a value does not have the type in the table of ports, the job fails and is not retried. \`null\` and
  \`false\` are ordinary values.
- **Failed runs** change nothing: their values stay at the input ports, and nothing is written.
- **Names of ports.** A port \`*\` matches ports of any name. You create such a port with the job, or by writing to it.
  Names consist of letters, digits and \`_\`. If the order of the ports matters, they are sorted by name, byte by byte:
  digits, capital letters, \`_\`, small letters. So \`val10\` comes before \`val2\`. A function without a port \`*\` refuses
  writes to undeclared ports.
- **Size.** A result of more than 1 MiB fails the job with \`TOO_LARGE\`.
- **Numbers.** Whole numbers beyond 2^53 lose their last digits if they arrive as JSON. If they arrive as MessagePack,
  they keep all digits, except in \`filter\`. \`connect\` always keeps all digits.

## How to read the examples

Each example starts with a new job. An empty line separates two runs.

| line | meaning |
| --- | --- |
| \`with input ports a, b = 1\` | The job was created with these ports. The default of \`b\` is 1. |
| \`in ← 1  2\` | The values 1 and 2 arrive at the input port \`in\`. |
| \`after 5s\` | Five seconds pass. |
| \`run\` | A caller requests a run without new values. |
| \`out → 3\` | The run writes the value 3 to the output port \`out\`. |
| \`out = 2\` | After the run, the default of the output port \`out\` is 2. |
| \`completed\` | The status of the job after the run. |
`

export const outro = `## download

Downloads a URL into a bucket, and returns the type, size and checksums of the file. Create the job in queue
\`downloader\`. It has no ports, only args:

ARGS

The result is an object:

| member | meaning |
| --- | --- |
| \`file\` | id of the file; \`GET /v1/files/:file\` returns an address that expires |
| \`url\` | URL of the file after all redirects |
| \`status\` | HTTP status, from 200 to 299 |
| \`size\` | size in bytes |
| \`type\` | MIME type, detected from the first 1,024 bytes |
| \`sha256\`, \`md5\` | checksums in hexadecimal |
| \`image\` | width and height in pixels, such as \`640x480\`; only with \`imageSize\` |
| \`etag\`, \`lastModified\` | headers of the response, if the server sent them |
| \`reused\` | \`true\` if \`dedup\` returned the file of an earlier download |

- A run can take 5 minutes, and follows at most 5 redirects.
- Connection errors, incomplete bodies, failures of the bucket and the statuses 408, 425, 429 and 500 to 599 are
  retried. By default, there are two retries: after 2 minutes, and after 4 more minutes. If the server sends
  \`Retry-After\`, the job waits at least that long, but at most a day. Other failures are not retried.
- A compressed body may grow to 1 MiB or to 200 times its compressed size, whichever is larger.
- While the job runs, its progress is \`{ bytes, total }\`: the received bytes, and the size of the file, or \`null\` if
  the server did not send its size.
- The API and the dashboard show the values of \`headers\` as \`"[redacted]"\`, because they can contain credentials.

## reap

Deletes a downloaded file. \`download\` creates a job of this class in queue \`files\` for each file in the bucket
\`FILES\`. That job runs after the time in \`keep\`. If the file was requested again with \`dedup\` in the meantime, the job
waits until the file is no longer needed. To delete a file earlier, call \`DELETE /v1/files/:file\`.

## How we know

| promise | test |
| --- | --- |
| every example and rule of the functions in queue \`core\` | \`test/functions/run.test.ts\`, \`test/functions/call.test.ts\` |
| \`download\`, \`reap\` | \`test/facades/downloader/download.test.ts\`, \`test/facades/downloader/downloader.test.ts\` |
`
