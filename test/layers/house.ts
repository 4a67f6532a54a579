/** The picture of the house (ARCHITECTURE.md) as data: who may import whom, and which packages are pure. */

export interface Room {
  readonly mayImport: readonly string[];
  /** No I/O, no clock, no randomness of its own: compiles with `lib: ES2022, types: []`. */
  readonly pure: boolean;
  /** The folders of its `src`, where they are drawn: which of the others each may import. Only the index and the program lie beside them. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** Sets of files of its `src` that do not import each other. */
  readonly parties?: readonly (readonly string[])[];
}

/** `http` shows what the server's core knows. */
const PROTOCOL_FOLDERS = {
  wire: [],
  'one-shot': ['wire'],
  paper: ['wire'],
  http: ['wire', 'one-shot'],
};

/** Parties meet in what they say to each other, and in the rules that they share. None imports another. */
const PROTOCOL_PARTIES = [
  ['one-shot/device.ts', 'one-shot/ledger.ts', 'one-shot/input.ts'],
  ['one-shot/server.ts', 'one-shot/batching.ts', 'one-shot/sums.ts', 'one-shot/admission.ts'],
  ['one-shot/authority.ts', 'one-shot/epochs.ts'],
  ['paper/server.ts'],
  ['paper/user.ts'],
  ['paper/authority.ts'],
];

/** From the ground up: each folder may import those before it. */
const SERVER_FOLDERS = fromGroundUp([
  'store',
  'blobs',
  'authority',
  'specification',
  'watch',
  'admission',
  'nodes',
  'closing',
  'uploads',
  'shots',
  'statistics',
  'tasks',
  'live',
  'routes',
  'process',
]);

function fromGroundUp(folders: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(folders.map((folder, n) => [folder, folders.slice(0, n)]));
}

export const HOUSE: Readonly<Record<string, Room>> = {
  masking: { mayImport: [], pure: true },
  learning: { mayImport: [], pure: true },
  runtime: { mayImport: ['masking'], pure: false },
  protocol: { mayImport: ['masking'], pure: true, folders: PROTOCOL_FOLDERS, parties: PROTOCOL_PARTIES },
  abe: { mayImport: ['masking'], pure: true },
  baselines: { mayImport: ['masking'], pure: true },
  simulator: { mayImport: ['runtime', 'masking', 'abe', 'protocol', 'learning', 'baselines'], pure: false },
  client: { mayImport: ['runtime', 'masking', 'abe', 'protocol', 'learning'], pure: false },
  service: { mayImport: ['runtime', 'masking', 'protocol'], pure: false },
  server: {
    mayImport: ['runtime', 'masking', 'abe', 'protocol', 'learning', 'service'],
    pure: false,
    folders: SERVER_FOLDERS,
  },
  authority: { mayImport: ['runtime', 'masking', 'abe', 'protocol', 'service'], pure: false },
  web: {
    mayImport: ['runtime', 'masking', 'abe', 'protocol', 'learning', 'client', 'simulator'],
    pure: false,
  },
  cli: { mayImport: allBut('cli'), pure: false },
};

function allBut(...names: readonly string[]): readonly string[] {
  const every = ['masking', 'learning', 'runtime', 'protocol', 'abe', 'baselines', 'simulator', 'client'];
  return [...every, 'service', 'server', 'authority', 'web'].filter((name) => !names.includes(name));
}
