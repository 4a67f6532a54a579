/** The addresses of both services, in one place for servers and clients. Names are in hex. */
import { toHex } from '@basa/masking';

type Name = Uint8Array | string;
const named = (name: Name): string => (typeof name === 'string' ? name : toHex(name));

/** At both services: the roles of the token that asks. */
export const ROLES_PATH = '/v1/roles';

export const SERVER_PATH = {
  about: '/v1/server',
  tasks: '/v1/tasks',
  task: (task: Name): string => `/v1/tasks/${named(task)}`,
  taskState: (task: Name): string => `/v1/tasks/${named(task)}/state`,
  evaluationSet: (task: Name): string => `/v1/tasks/${named(task)}/evaluation-set`,
  taskMetrics: (task: Name): string => `/v1/tasks/${named(task)}/metrics`,
  /** The results of a statistics task. */
  statistics: (task: Name): string => `/v1/tasks/${named(task)}/statistics`,
  /** Server-sent events, each a `LiveState`; only if the server serves pages. */
  events: (task: Name): string => `/v1/tasks/${named(task)}/events`,
  /** `PageSettings`, likewise. */
  page: '/v1/page',
  /** Checks an operator's token. */
  pageLogin: '/v1/page/login',
  /** An enrolment token, only if the server is configured to hand some out. */
  pageTokens: (task: Name): string => `/v1/page/tokens/${named(task)}`,
  /** Requested before a model is fetched: returns a place, or when to ask again. */
  admissions: (task: Name): string => `/v1/tasks/${named(task)}/admissions`,
  /** The newest model and the live epochs of the authorities, before a device trains and before it masks an update. */
  newestModel: (task: Name): string => `/v1/tasks/${named(task)}/models/newest`,
  /** The state of a batch. */
  buffer: (ctx: Name): string => `/v1/buffers/${named(ctx)}`,
  model: (task: Name, version: number | string): string => `/v1/tasks/${named(task)}/models/${version}`,
  /** The only message of a device, in pieces. The name is the hash of its header. */
  shot: (task: Name, upload: Name): string => `/v1/tasks/${named(task)}/shots/${named(upload)}`,
  /** The status of an upload, according to the server. */
  shotFate: (task: Name, upload: Name): string => `/v1/tasks/${named(task)}/shots/${named(upload)}/fate`,
  unsafePaperConnect: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/connect`,
  unsafePaperUpload: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/upload`,
} as const;

export const AUTHORITY_PATH = {
  about: '/v1/authority',
  tasks: '/v1/tasks',
  policy: (task: Name): string => `/v1/tasks/${named(task)}/policy`,
  tokens: (task: Name): string => `/v1/tasks/${named(task)}/enrolment-tokens`,
  allowList: (task: Name): string => `/v1/tasks/${named(task)}/allow-list`,
  enrolments: (task: Name): string => `/v1/tasks/${named(task)}/enrolments`,
  devices: (task: Name): string => `/v1/tasks/${named(task)}/devices`,
  /** Open, so that every owner sees how many devices each of the others let in. */
  deviceCount: (task: Name): string => `/v1/tasks/${named(task)}/device-count`,
  /** The devices of the task, for the task that succeeds it. */
  deviceExport: (task: Name, successor: Name): string => `/v1/tasks/${named(task)}/devices/export/${named(successor)}`,
  deviceImport: (task: Name): string => `/v1/tasks/${named(task)}/devices/import`,
  /** POST revokes a device, GET lists all that were revoked. */
  revocations: '/v1/revocations',
  /** The epochs that uploads may name now (server). */
  epochs: (task: Name): string => `/v1/tasks/${named(task)}/epochs`,
  inspections: (task: Name): string => `/v1/tasks/${named(task)}/inspections`,
  batchVotes: (task: Name): string => `/v1/tasks/${named(task)}/batch-votes`,
  releases: (task: Name): string => `/v1/tasks/${named(task)}/releases`,
  unsafePaperSealingKey: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/sealing-key`,
  unsafePaperKeys: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/keys`,
} as const;
