/** Requests over HTTP: their addresses, and the statement that a device signs with each. */
import { ascii, toHex } from '@basa/masking';
import { type Message, message } from '../wire/codec.ts';
import { type Field, fixed, KIND, type Millis, short, u32, u53 } from '../wire/fields.ts';

export interface RequestStatement {
  /** The public key of the service: a request to a server means nothing to an authority. */
  readonly audience: Uint8Array;
  /** In capitals. */
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  /** SHA-256 of the body, or of zero bytes if there is no body. */
  readonly digest: Uint8Array;
  readonly at: Millis;
  readonly nonce: Uint8Array;
}

interface RequestLines {
  readonly audience: Uint8Array;
  readonly method: Uint8Array;
  readonly target: Uint8Array;
  readonly digest: Uint8Array;
  readonly at: number;
  readonly nonce: Uint8Array;
}

const MAX_TARGET = 1024;

export const requestStatementCodec: Message<RequestLines> = message(KIND.requestStatement, 'requestStatement', {
  audience: fixed(32),
  method: short(16),
  target: short(MAX_TARGET),
  digest: fixed(32),
  at: u53,
  nonce: fixed(16),
});

/** A piece of an upload, which its device signs instead of a request with a digest. The target names the upload. */
export interface PieceStatement extends Pick<RequestStatement, 'audience' | 'target' | 'at' | 'nonce'> {
  readonly offset: number;
  readonly length: number;
  /** CRC-32 of the piece. */
  readonly crc: number;
}

export const pieceStatementCodec: Message<Omit<PieceStatement, 'target'> & Pick<RequestLines, 'target'>> = message(
  KIND.pieceStatement,
  'pieceStatement',
  {
    audience: fixed(32),
    target: short(MAX_TARGET),
    offset: u53,
    length: u53,
    crc: u32,
    at: u53 as Field<Millis>,
    nonce: fixed(16),
  },
);

/** The bytes to sign. */
export function pieceStatement(piece: PieceStatement): Uint8Array {
  return pieceStatementCodec.encode({ ...piece, target: ascii(piece.target) });
}

/** The bytes to sign. */
export function requestStatement(request: RequestStatement): Uint8Array {
  return requestStatementCodec.encode({ ...request, method: ascii(request.method), target: ascii(request.target) });
}

/** Names of the headers of a signed request. */
export const HEADER = {
  device: 'basa-device',
  time: 'basa-time',
  nonce: 'basa-nonce',
  signature: 'basa-signature',
  digest: 'content-digest',
  /** The signed header of an upload, with every piece of its body. */
  upload: 'basa-upload',
  /** The certificate of the device, in hexadecimal: it reads models and results of its task. */
  certificate: 'basa-certificate',
  /** CRC-32 of a piece, as 8 hexadecimal digits. */
  crc: 'basa-crc32',
  /** The position of a piece in the body, and in answers the number of durable bytes. */
  uploadOffset: 'upload-offset',
} as const;

/** The headers of a signed request. The digest of its body is a separate header. */
export function signatureHeaders(
  publicKey: Uint8Array,
  { at, nonce }: Pick<RequestStatement, 'at' | 'nonce'>,
  signature: Uint8Array,
): Record<string, string> {
  return {
    [HEADER.device]: toHex(publicKey),
    [HEADER.time]: String(at),
    [HEADER.nonce]: toHex(nonce),
    [HEADER.signature]: toHex(signature),
  };
}

/** The name of a task, an upload or a batch; in hex in an address. */
type Name = Uint8Array | string;
const named = (name: Name): string => (typeof name === 'string' ? name : toHex(name));

/** At both services: the roles of the token that asks. */
export const ROLES_PATH = '/v1/roles';

export const SERVER_PATH = {
  about: '/v1/server',
  tasks: '/v1/tasks',
  /** The first parameters of a task, before it is created. */
  firstParameters: '/v1/first-parameters',
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
  batch: (ctx: Name): string => `/v1/batches/${named(ctx)}`,
  model: (task: Name, version: number | string): string => `/v1/tasks/${named(task)}/models/${version}`,
  /** The operator's own score of a version. */
  evaluation: (task: Name, version: number | string): string => `/v1/tasks/${named(task)}/models/${version}/evaluation`,
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
