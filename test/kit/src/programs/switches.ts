/** What every program of the tools takes besides its own options, for `parseArgs`. */
export const SWITCHES = {
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
