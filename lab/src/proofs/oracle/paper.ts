/** The oracle over `paper` mode: the attacks of the threat model on its masks, and its general law. */
import { equalBytes, RING_32, SEED_BYTES, type Signer } from '@basa/masking';
import {
  millis,
  type PaperConnection,
  paperAttribute,
  paperTicketCodec,
  type Slot,
  sealingContext,
  type UserId,
} from '@basa/protocol';
import { granted, PAPER_LEASE_MS, PaperFederation, type PaperPrepared } from '@basa/simulator';
import { symbolicEnvironment } from '../world/symbolic-federation.ts';
import { nameOfSeed, Trace } from './trace.ts';

const { suite } = symbolicEnvironment.tools;

/** One buffer of the paper, with a server that looks at everything and users that collude with it. */
class PaperWorld {
  readonly trace = new Trace();
  readonly federation: PaperFederation;
  #people = 0;

  constructor(bufferSize: number) {
    this.federation = new PaperFederation(symbolicEnvironment, { bufferSize, version: 0, modulus: RING_32 });
  }

  /** A new user takes the position; the one before is late by then. */
  connect(): { readonly user: UserId; readonly connection: PaperConnection } {
    const { federation } = this;
    const user = suite.sha256(Uint8Array.of(3, this.#people++)) as UserId;
    if (federation.buffer.lease !== undefined) federation.now = millis(federation.now + PAPER_LEASE_MS);
    return { user, connection: granted(federation.connect(user)) };
  }

  /** A colluder takes the position and its key, and goes silent. */
  leakKey(): void {
    const { user, connection } = this.connect();
    this.trace.gotKey(this.federation.key(user, connection.ticket));
  }

  /** The contribution of a user on a connection, not sent. */
  contribution(user: UserId, connection: PaperConnection): PaperPrepared {
    const delta = new Float32Array(this.federation.dimension).fill(1);
    return this.federation.contribute(user, connection, delta);
  }

  /** The bytes reach the server. */
  send(name: string, { plan, upload }: PaperPrepared): void {
    this.trace.sawMasked(this.trace.newInput(name), plan);
    for (const sealed of upload.ciphertexts) this.trace.sawSealed((key) => opened(sealed, key));
  }

  /** An honest user is accepted at the next position. */
  accept(name: string): void {
    const { user, connection } = this.connect();
    const contribution = this.contribution(user, connection);
    this.send(name, contribution);
    granted(this.federation.upload(user, contribution));
  }

  /** A colluder is accepted at the next position: it reveals its key, and every seed that it masked with. */
  acceptColluder(): void {
    const { user, connection } = this.connect();
    const contribution = this.contribution(user, connection);
    this.trace.gotKey(this.federation.key(user, connection.ticket));
    for (const { seed } of contribution.plan.terms) this.trace.knows(nameOfSeed(seed.reveal()));
    granted(this.federation.upload(user, contribution));
  }

  /** A ciphertext of the server's own: public-key ciphertexts of the paper have no sender. */
  forged(slot: number): Uint8Array {
    const { buffer, sealings, randomBytes } = this.federation;
    const { ctx } = buffer;
    const seed = randomBytes(SEED_BYTES);
    this.trace.knows(nameOfSeed(seed));
    const nobody = new Uint8Array(32) as Parameters<typeof sealingContext>[2];
    const context = sealingContext(ctx, 'paper', nobody, slot);
    return sealings.sealing.seal(seed, paperAttribute(suite, ctx, slot as Slot), context);
  }
}

/** A ciphertext of the transparent sealing contains the seed and its recipient in clear. */
function opened(sealed: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  return equalBytes(sealed.subarray(SEED_BYTES, 2 * SEED_BYTES), key) ? sealed.slice(0, SEED_BYTES) : undefined;
}

/** Returns the information that the server gets about K honest users if the keys of these positions leaked before. */
export function learnedInPaper(bufferSize: number, leakedKeys: ReadonlySet<number>): readonly string[] {
  const world = new PaperWorld(bufferSize);
  for (let position = 0; position < bufferSize; position++) {
    if (leakedKeys.has(position)) world.leakKey();
    world.accept(`x${position}`);
  }
  return world.trace.judge().learned;
}

/** The general law: m is the largest position not in T; the sum up to m, and each x_k with k > m individually. */
export function paperLaw(bufferSize: number, leakedKeys: ReadonlySet<number>): readonly string[] {
  const positions = Array.from({ length: bufferSize }, (_, position) => position);
  const last = Math.max(0, ...positions.filter((position) => !leakedKeys.has(position)));
  const name = (position: number) => `x${position}`;
  return [
    positions
      .slice(0, last + 1)
      .map(name)
      .join(' + '),
    ...positions.slice(last + 1).map(name),
  ];
}

/** Runs the attacks of the table that are combinations of masks against `paper`, and returns the information that the server gets. */
export const PAPER_ATTACKS: Readonly<Record<string, () => readonly string[]>> = {
  A1: () => learnedInPaper(3, new Set([2])),
  A2: () => learnedInPaper(3, new Set([1, 2])),
  B1: () => lateAndAccepted(false),
  B2: () => lateAndAccepted(true),
  C1: () => {
    const world = new PaperWorld(3);
    const { user, connection } = world.connect();
    const contribution = world.contribution(user, connection);
    world.send('x', contribution);
    world.send("x'", contribution);
    return world.trace.judge().learned;
  },
  D1: () => {
    const world = new PaperWorld(3);
    for (const name of ['x0', 'x1', 'x2']) toldLast(world, name, (slot) => [world.forged(slot), world.forged(slot)]);
    return world.trace.judge().learned;
  },
  D2: () => {
    const world = new PaperWorld(3);
    world.accept('x0');
    world.acceptColluder();
    const [, second] = world.federation.buffer.inboxes[2] as readonly Uint8Array[];
    toldLast(world, 'x2', () => [second as Uint8Array]);
    return world.trace.judge().learned;
  },
};

/** Ua is late at position 2 and its bytes arrive anyway; Ub is accepted there. */
function lateAndAccepted(isSecondColluding: boolean): readonly string[] {
  const world = new PaperWorld(3);
  world.accept('x0');
  world.accept('x1');
  const late = world.connect();
  world.send('xa', world.contribution(late.user, late.connection));
  if (isSecondColluding) world.acceptColluder();
  else world.accept('xb');
  return world.trace.judge().learned;
}

/** A user is told that it holds the last position, with an inbox of the server's choice. */
function toldLast(world: PaperWorld, name: string, inboxFor: (slot: Slot) => readonly Uint8Array[]): void {
  const { user, connection } = world.connect();
  const slot = (world.federation.bufferSize - 1) as Slot;
  const told = { ...connection, ticket: { ...connection.ticket, slot }, inbox: inboxFor(slot) };
  world.send(name, world.contribution(user, resigned(world.federation.signer, told)));
}

function resigned(signer: Signer, connection: PaperConnection): PaperConnection {
  const { signature: _, ...body } = connection.ticket;
  return { ...connection, ticket: { ...body, signature: signer.sign(paperTicketCodec.statement(body)) } };
}
