/** The options that every program of the tools takes besides its own, for `parseArgs`. */
export const SWITCHES = {
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
