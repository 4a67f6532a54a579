/** `paper` mode on a scene: the real cores, and an adversary that sees everything the server sees. */
import { ascii, type Modulus, modulusSize, RING_32, toHex } from '@basa/masking';
import { granted, millis, type Position, type UserId } from '@basa/protocol';
import { type PaperConnection, PaperTicket, paperAttribute, paperContext } from '@basa/protocol/paper';
import type { Training } from '@basa/protocol/policy';
import { PAPER_LEASE_MS, PaperFederation, type PaperPrepared } from '../federation/paper-federation.ts';
import { Adversary } from './adversary.ts';
import type { AttackResult, AttackSetting } from './attack.ts';
import { findingsOf, type HonestInput } from './referee.ts';
import { DIMENSION, LEVEL, sampleUpdate } from './sample-update.ts';

export class PaperScene {
  readonly world: PaperFederation;
  readonly adversary: Adversary;
  readonly #inputs: HonestInput[] = [];
  readonly #words: (seed: number) => Float32Array;
  readonly #updates: [string, Float32Array][] = [];

  constructor(
    { environment, paperSealings }: AttackSetting,
    options: { bufferSize?: number; modulus?: Modulus; level?: number; staleness?: Training.Staleness } = {},
  ) {
    this.world = new PaperFederation(environment, {
      bufferSize: 3,
      dimension: DIMENSION,
      level: LEVEL,
      modulus: RING_32,
      staleness: { kind: 'constant' },
      ...options,
      sealings: paperSealings(),
    });
    this.adversary = new Adversary(environment);
    this.#words = (seed) => sampleUpdate(environment.randomWords(seed));
  }

  user(name: string): UserId {
    return this.world.environment.tools.suite.sha256(ascii(name)) as UserId;
  }

  connect(name: string): PaperConnection {
    return granted(this.world.connect(this.user(name)));
  }

  /** A colluder holds the position, fetches its key for the pool, and lets the lease run out. */
  takeKeyAndGoSilent(name: string): void {
    this.collude(name, this.connect(name));
    this.timeOut();
  }

  collude(name: string, { ticket }: PaperConnection): void {
    this.adversary.holdKey(this.world.key(this.user(name), ticket));
  }

  timeOut(): void {
    this.world.now = millis(this.world.now + PAPER_LEASE_MS);
  }

  /** An honest user masks a new update with the information that it got. Nothing has left the device yet. */
  mask(name: string, connection: PaperConnection, inputName = name): PaperPrepared {
    const prepared = this.#prepare(name, connection);
    this.#inputs.push({ name: inputName, vector: prepared.input });
    return prepared;
  }

  /** The upload reaches the server, in part or whole; the buffer may or may not accept it. */
  arrive(connection: PaperConnection, { y, upload }: PaperPrepared, elements: number = y.length): void {
    const { ctx, position } = connection.ticket;
    const own = upload.ciphertexts.map((sealed, n) => this.#see(connection, sealed, position + 1 + n));
    const earlier = connection.inbox.map((sealed) => this.#see(connection, sealed, position));
    this.adversary.seeUpload({
      vector: y.slice(0, elements),
      salt: ctx,
      modulus: this.world.quantizer.modulus,
      terms: [
        ...earlier.map((seed) => ({ seed, sign: -1 as const })),
        ...own.map((seed) => ({ seed, sign: 1 as const })),
      ],
    });
  }

  /** An honest user's whole turn, and its input. */
  contribute(name: string): Uint32Array {
    const connection = this.connect(name);
    const prepared = this.mask(name, connection);
    this.arrive(connection, prepared);
    granted(this.world.upload(this.user(name), prepared));
    return prepared.input;
  }

  /** The same for a user that gives its last update once more: it believes that the update is in no sum. */
  contributeAgain(name: string): void {
    const [, update] = this.#updates.filter(([user]) => user === name).at(-1) as [string, Float32Array];
    const connection = this.connect(name);
    const prepared = this.world.contribute(this.user(name), connection, update);
    this.arrive(connection, prepared);
    granted(this.world.upload(this.user(name), prepared));
  }

  /** A colluder's whole turn. */
  contributeAsColluder(name: string): void {
    const connection = this.connect(name);
    const prepared = this.#prepare(name, connection);
    this.adversary.knowInput(name, prepared.input);
    this.collude(name, connection);
    this.arrive(connection, prepared);
    granted(this.world.upload(this.user(name), prepared));
  }

  /** The server signs any statement. */
  forgeTicket(name: string, position: number): PaperTicket {
    const body = { ctx: this.world.buffer.ctx, position: position as Position, user: this.user(name) };
    return { ...body, signature: this.world.signer.sign(PaperTicket.statement(body)) };
  }

  /** A ciphertext for a position whose seed the server drew: public-key ciphertexts have no sender. */
  forgeCiphertext(position: number): Uint8Array {
    const { sealings, buffer, randomBytes } = this.world;
    const seed = randomBytes(32);
    const attribute = paperAttribute(this.world.environment.tools.suite, buffer.ctx, position as Position);
    const sealed = sealings.sealing.seal(seed, attribute, paperContext(buffer.ctx, position));
    this.adversary.knowSeed(toHex(sealed), seed);
    return sealed;
  }

  result(more: Pick<AttackResult, 'wrongSum'> = {}): AttackResult {
    const size = modulusSize(this.world.quantizer.modulus);
    const findings = findingsOf(this.adversary.vectors(), this.#inputs, size);
    return { findings, refusals: [], hasSum: false, ...more };
  }

  #prepare(name: string, connection: PaperConnection): PaperPrepared {
    const update = this.#words(1000 + this.#updates.length);
    this.#updates.push([name, update]);
    return this.world.contribute(this.user(name), connection, update);
  }

  /** A seed of the paper is named by its ciphertext. */
  #see({ ticket }: PaperConnection, sealed: Uint8Array, position: number): string {
    const { sealing } = this.world.sealings;
    const context = paperContext(ticket.ctx, position);
    const seed = toHex(sealed);
    this.adversary.seeCiphertext({ seed, sealed, open: (key) => sealing.open(sealed, key, context) });
    return seed;
  }
}
