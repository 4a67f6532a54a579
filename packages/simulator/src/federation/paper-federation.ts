/** The paper's system in memory: one server, one authority, users in turn. UNSAFE, as `paper` mode is. */
import {
  addInPlace,
  applyMasksInPlace,
  dequantizeSum,
  FIELD,
  type MaskPlan,
  type Modulus,
  type RandomBytes,
  type Signer,
} from '@basa/masking';
import { type Ctx, granted, millis, type Refused, type UserId } from '@basa/protocol';
import {
  contributePaper,
  issuePaperKey,
  type PaperConnection,
  PaperServer,
  type PaperTicket,
  type PaperUpload,
  paperInput,
  paperMessages,
} from '@basa/protocol/paper';
import type { Training } from '@basa/protocol/policy';
import { randomBytesFrom } from './random-bytes.ts';
import { transparentPaperSealings } from './transparent-sealings.ts';
import type { Environment, PaperSealings } from './world.ts';

export interface PaperFederationOptions {
  readonly bufferSize: number;
  readonly sealings?: PaperSealings;
  readonly version?: number;
  readonly dimension?: number;
  readonly level?: number;
  readonly modulus?: Modulus;
  readonly staleness?: Training.Staleness;
  readonly seed?: number;
}

/** An upload a user has made and not sent yet. */
export interface PaperPrepared {
  readonly input: Uint32Array;
  readonly plan: MaskPlan;
  readonly y: Uint32Array;
  readonly upload: PaperUpload;
}

export const PAPER_LEASE_MS = 100;

export class PaperFederation {
  readonly environment: Environment;
  readonly sealings: PaperSealings;
  readonly randomBytes: RandomBytes;
  readonly signer: Signer;
  readonly quantizer: { level: number; clip: number; modulus: Modulus; staleness: Training.Staleness };
  readonly bufferSize: number;
  readonly dimension: number;
  readonly version: number;
  now = millis(0);
  /** With its running sum. */
  buffer: PaperServer.PaperBuffer;
  sum: Uint32Array;

  constructor(environment: Environment, options: PaperFederationOptions) {
    this.environment = environment;
    this.bufferSize = options.bufferSize;
    this.dimension = options.dimension ?? 4;
    this.version = options.version ?? 3;
    this.sealings = options.sealings ?? transparentPaperSealings();
    this.randomBytes = randomBytesFrom(environment.randomWords(options.seed ?? 1));
    this.signer = environment.createSigner(this.randomBytes(32));
    this.quantizer = {
      level: options.level ?? 1000,
      clip: 1,
      modulus: options.modulus ?? FIELD,
      staleness: options.staleness ?? { kind: 'polynomial', exponent: 0.5 },
    };
    this.buffer = this.#opened(this.randomBytes(32) as Ctx);
    this.sum = new Uint32Array(this.dimension);
  }

  /** Opens the next buffer: with fresh attributes, or with those of another buffer (attack E1). */
  openNext(ctx: Ctx = this.randomBytes(32) as Ctx): void {
    this.buffer = this.#opened(ctx);
    this.sum = new Uint32Array(this.dimension);
  }

  connect(user: UserId): PaperConnection | Refused {
    const { suite } = this.environment.tools;
    return this.keep(PaperServer.connectPaper({ suite, signer: this.signer }, this.buffer, user, this.now));
  }

  /** SK_k, from the authority. */
  key(user: UserId, ticket: PaperTicket): Uint8Array {
    const { suite } = this.environment.tools;
    const ports = { suite, issuer: this.sealings.issuer, serverKey: this.signer.publicKey };
    return granted(issuePaperKey(ports, user, ticket)).key;
  }

  /** Makes the contribution of a user from the data that it got when it connected. */
  contribute(user: UserId, connection: PaperConnection, delta: Float32Array, trainedOn = this.version): PaperPrepared {
    const { randomBytes, quantizer } = this;
    const { suite } = this.environment.tools;
    const versions = { version: connection.version, trainedOn };
    const { vector: input, alpha } = granted(paperInput(delta, quantizer, versions, this.environment.randomWords(1)));
    const ports = { suite, randomBytes, sealing: this.sealings.sealing };
    const key = this.key(user, connection.ticket);
    const { modulus } = quantizer;
    const { plan, upload } = granted(contributePaper(ports, connection, key, { alpha, modulus }));
    const y = input.slice();
    applyMasksInPlace(y, plan, this.environment.tools);
    return { input, plan, y, upload };
  }

  /** Connects, gets the key and masks; the upload is not sent yet. */
  prepare(user: UserId, delta: ArrayLike<number>, trainedOn?: number): PaperPrepared {
    return this.contribute(user, granted(this.connect(user)), Float32Array.from(delta), trainedOn);
  }

  upload(
    user: UserId,
    { y, upload }: Pick<PaperPrepared, 'y' | 'upload'>,
  ): { readonly kind: 'accepted'; readonly isFull: boolean; readonly isRepeat: boolean } | Refused {
    const codec = paperMessages(this.bufferSize, this.sealings.sealing).upload;
    const answer = this.keep(
      PaperServer.acceptPaperUpload(this.buffer, user, codec.decode(codec.encode(upload)), this.now),
    );
    if (answer.kind === 'accepted' && !answer.isRepeat)
      addInPlace(this.sum, y, this.quantizer.modulus, this.environment.tools.kernel);
    return answer;
  }

  keep<Answer>({ state, answer }: { state: PaperServer.PaperBuffer; answer: Answer }): Answer {
    this.buffer = state;
    return answer;
  }

  /** Algorithm 3: the sum, divided by the sum of the weights. */
  mean(): number[] {
    const mean = dequantizeSum(this.sum, this.quantizer, { weightSum: this.buffer.alphaSum, weightScale: 1 });
    return Array.from(mean, (value) => Math.round(1000 * value) / 1000);
  }

  #opened(ctx: Ctx): PaperServer.PaperBuffer {
    return PaperServer.unsafePaperBuffer({ bufferSize: this.bufferSize, leaseMs: PAPER_LEASE_MS }, ctx, this.version);
  }
}
