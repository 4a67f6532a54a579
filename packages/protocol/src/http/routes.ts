/** The addresses of both services, in one place for servers and clients. Names are in hex. */
import { toHex } from '@basa/masking';

type Name = Uint8Array | string;
const named = (name: Name): string => (typeof name === 'string' ? name : toHex(name));

export const SERVER_PATH = {
  about: '/v1/server',
  tasks: '/v1/tasks',
  task: (task: Name): string => `/v1/tasks/${named(task)}`,
  taskState: (task: Name): string => `/v1/tasks/${named(task)}/state`,
  evaluationSet: (task: Name): string => `/v1/tasks/${named(task)}/evaluation-set`,
  taskMetrics: (task: Name): string => `/v1/tasks/${named(task)}/metrics`,
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
  /** `newest` returns the signed log entry of the newest version. */
  newestModel: (task: Name): string => `/v1/tasks/${named(task)}/models/newest`,
  /** The state of a batch. */
  buffer: (ctx: Name): string => `/v1/buffers/${named(ctx)}`,
  model: (task: Name, version: number | string): string => `/v1/tasks/${named(task)}/models/${version}`,
  /** The current statements of the authorities, before an update is masked. */
  standings: (task: Name): string => `/v1/tasks/${named(task)}/standings`,
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
  taskRevocations: (task: Name): string => `/v1/tasks/${named(task)}/revocations`,
  modelLog: (task: Name): string => `/v1/tasks/${named(task)}/model-log`,
  modelEntry: (task: Name, version: number | string): string => `/v1/tasks/${named(task)}/model-log/${version}`,
  /** Shows an entry that enough authorities signed to the others. */
  adoptedModel: (task: Name): string => `/v1/tasks/${named(task)}/model-log/newest`,
  /** With a nonce of the sender, 16 bytes. */
  newestModel: (task: Name, nonce: Name): string => `/v1/tasks/${named(task)}/model-log/newest/${named(nonce)}`,
  revocations: '/v1/revocations',
  /** The open epoch, the newest model and the time (server). */
  standing: (task: Name): string => `/v1/tasks/${named(task)}/standing`,
  inspections: (task: Name): string => `/v1/tasks/${named(task)}/inspections`,
  batchVotes: (task: Name): string => `/v1/tasks/${named(task)}/batch-votes`,
  releases: (task: Name): string => `/v1/tasks/${named(task)}/releases`,
  unsafePaperSealingKey: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/sealing-key`,
  unsafePaperKeys: (task: Name): string => `/v1/tasks/${named(task)}/unsafe-paper/keys`,
} as const;
