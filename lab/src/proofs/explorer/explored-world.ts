/** The federation of an exploration, its facts before the first step, and the hours of its clocks. */
import { ascii, concatBytes, type Signer } from '@basa/masking';
import type { AuthorityRecord, BufferSealing, Ctx, DescribedBuffer, Millis, UserPorts } from '@basa/protocol';
import { CLOSE_MS, type Federation, FederationDevice, granted, LEASE_MS, OPEN_MS } from '@basa/simulator';
import { type OracleEngine, symbolicFederation } from '../world/symbolic-federation.ts';

/** A fault of the environment: a rule of the host that is switched off. */
export type BrokenRule =
  | 'server answers before it writes'
  | 'server loses its last record'
  | 'server asks for close before it froze'
  | 'authority answers before it writes'
  | 'authority starts without its witness'
  | 'user forgets its last record'
  | 'user forgets where its update went';

/** Several authorities: by default the exploration begins with a filled buffer, and the users are done. */
interface CouncilOptions {
  readonly authorities: number;
  readonly threshold: number;
  readonly isEmpty?: boolean;
  /** Indices of authorities that no user reached, and of authorities that do not answer afterwards. */
  readonly missed?: readonly number[];
  readonly gone?: readonly number[];
}

export interface WorldOptions {
  readonly bufferSize: number;
  /** Attributes that hide nothing by default. */
  readonly engine?: OracleEngine;
  readonly minimum?: number;
  /** K by default. */
  readonly users?: number;
  /** Buffers of the task: users that leave one may go to the next. */
  readonly buffers?: number;
  readonly council?: CouncilOptions;
  /** User 0 seals garbage to later slots, or into its self mask. */
  readonly cheat?: 'edges' | 'self';
  /** The authority may lose its newest record once, and starts again with its witness. */
  readonly rollback?: boolean;
  /** Every party may also crash after any of its records, before the answer leaves. */
  readonly crashes?: boolean;
  /** Clocks do not move and users do not leave, so there are fewer states and longer paths. */
  readonly still?: boolean;
  readonly broken?: BrokenRule;
}

interface Hour {
  readonly now: Millis;
  readonly words: string;
}

export interface ExploredWorld {
  readonly options: WorldOptions;
  readonly federation: Federation;
  /** All users with an update, and those of them that still act. */
  readonly devices: readonly ExploredDevice[];
  readonly users: readonly ExploredDevice[];
  readonly buffers: readonly (DescribedBuffer & { readonly ctx: Ctx })[];
  /** The log of each authority before the first step. */
  readonly genesis: readonly (readonly AuthorityRecord[])[];
  readonly serverHours: readonly Hour[];
  readonly authorityHours: readonly Hour[];
}

/** The progress of the users of a filled buffer. */
const FILLED = ['upload', 'upload', 'upload', 'key'] as const;

export function exploredWorld(options: WorldOptions): ExploredWorld {
  const { bufferSize, minimum = 2, engine, council, users: count = bufferSize } = options;
  const federation = symbolicFederation({
    bufferSize,
    minimum,
    engine,
    dimension: count,
    // A device may do more here than with one version per buffer, so every promise that holds here also holds there.
    versions: 'unsafeMixed',
    ...(council && { council: { ...council, unsafeThreshold: true } }),
  });
  const users = Array.from({ length: count }, (_, n) => {
    const cheat = n === 0 ? options.cheat : undefined;
    return new ExploredDevice(federation, n, federation.signer(), cheat);
  });
  const isFilled = council !== undefined && council.isEmpty !== true;
  if (!isFilled) for (let n = 0; n < (options.buffers ?? 1); n++) federation.server.drawBuffer();
  else {
    federation.server.drawBuffer();
    for (const index of council.missed ?? []) federation.away.add(index);
    for (const [n, until] of FILLED.entries()) granted((users[n] as ExploredDevice).contribute(until));
    granted(federation.server.freeze((users[0] as ExploredDevice).ctx, 'stalled'));
    federation.away.clear();
  }
  const start = federation.now;
  const at = (ms: number, words: string): Hour => ({ now: (start + ms) as Millis, words });
  const [first, last] = [at(0, 'the start'), at(OPEN_MS + CLOSE_MS, 'closeBy')];
  const hours = [first, at(LEASE_MS + 1, 'past the leases given so far'), at(OPEN_MS, 'expiry'), last];
  return {
    options,
    federation,
    devices: users,
    users: isFilled ? [] : users,
    buffers: [...federation.server.buffers.values()],
    genesis: federation.authorities.map(({ log }) => [...log]),
    serverHours: options.still || isFilled ? [first] : hours,
    authorityHours: options.still ? [first] : isFilled ? [first, last] : hours,
  };
}

/** Draws by name: the same step draws the same bytes in every exploration. Seeds that a cheat seals cannot be opened. */
export class ExploredDevice extends FederationDevice {
  /** The name of the step that is explored. */
  stepName = 'contribute';
  #draws = 0;
  readonly #cheat: WorldOptions['cheat'];

  constructor(world: Federation, number: number, signer: Signer, cheat: WorldOptions['cheat']) {
    super(world, number, signer);
    this.deltaId = new Uint8Array(16).fill(number);
    this.#cheat = cheat;
  }

  begin(stepName: string): void {
    this.stepName = stepName;
    this.#draws = 0;
  }

  override get ports(): UserPorts {
    const ports = super.ports;
    const randomBytes = (length: number): Uint8Array => this.#named(length);
    return { ...ports, randomBytes, sealing: this.#sealing(ports.sealing) };
  }

  #named(length: number): Uint8Array {
    const draw = this.#draws++;
    const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
      this.suite.sha256(ascii(`user ${this.number} ${this.stepName} ${draw}.${n}`)),
    );
    return concatBytes(...blocks).slice(0, length);
  }

  #sealing(sealing: BufferSealing): BufferSealing {
    const garbled = (sealed: Uint8Array): Uint8Array =>
      sealed.map((byte, n) => (n < sealing.selfNameBytes ? byte : byte ^ 1));
    if (this.#cheat === 'self') return { ...sealing, sealSelf: (...input) => garbled(sealing.sealSelf(...input)) };
    if (this.#cheat === 'edges') return { ...sealing, sealEdge: (...input) => garbled(sealing.sealEdge(...input)) };
    return sealing;
  }
}

/** Names the buffer, if there are several. */
export function inBuffer({ buffers }: ExploredWorld, buffer: number): string {
  return buffers.length > 1 ? ` (buffer ${buffer})` : '';
}
