// Built by infra/build-dashboard.ts; `npm run dashboard` makes it anew.

import type { Asset } from '../asset.ts'

export const asset: Asset = {
  name: "workers-2ff29b1656.css",
  type: "text/css; charset=utf-8",
  text: ".wcols{display:grid;grid-template-columns:minmax(300px,.9fr) minmax(0,1.1fr) minmax(330px,.95fr);gap:var(--gap);align-items:start}.wcols .plot svg{width:100%}.wcols .classes :is(td,th):not(:first-child,:last-child){padding-inline:5px}.wdesc{padding:12px 14px 8px}.wdesc p{margin-bottom:6px}.wdesc dd{display:block;padding:4px 0;white-space:normal;overflow-wrap:anywhere}.got{border-top:1px solid var(--line);padding:12px 14px;background:var(--sunken);border-radius:0 0 10px 10px}@media(max-width:1000px){.wcols{grid-template-columns:minmax(0,1fr)}.wcols>.card:first-child{order:1}}\n",
}
