/** The oracle over `paper` mode: the attacks of the threat model that live in its masks, and its general law. */
import { equalBytes, RING_32, SEED_BYTES, type Signer, unsafeTransparentIssuer } from '@basa/masking';
import {
  acceptPaperUpload,
  type Ctx,
  connectPaper,
  contributePaper,
  issuePaperKey,
  type Millis,
  type PaperBuffer,
  type PaperConnection,
  type PaperContribution,
  paperAttribute,
  paperTicketCodec,
  type Slot,
  sealingContext,
  type UserId,
  unsafePaperBuffer,
} from '@basa/protocol';
import { granted, transparentPaperSealings } from '@basa/simulator';
import { countingBytes, unsafeSymbolicSigner, unsafeSymbolicSuite } from '../world/unsafe-symbolic-suite.ts';
import { Trace } from './trace.ts';

const LEASE_MS = 1000;
const suite = unsafeSymbolicSuite;
const { sealing } = transparentPaperSealings(suite);
const serverSigner: Signer = unsafeSymbolicSigner(suite.sha256(Uint8Array.of(1)));

/** One buffer of the paper, with a server that looks at everything and users that collude with it. */
class PaperWorld {
  readonly trace = new Trace();
  readonly bufferSize: number;
  buffer: PaperBuffer;
  now = 0;
  readonly #counter = { next: 1 };
  #people = 0;

  constructor(bufferSize: number) {
    this.bufferSize = bufferSize;
    this.buffer = unsafePaperBuffer({ bufferSize, leaseMs: LEASE_MS }, suite.sha256(Uint8Array.of(2)) as Ctx, 0);
  }

  #person(): UserId {
    return suite.sha256(Uint8Array.of(3, this.#people++)) as UserId;
  }

  /** Somebody new takes the position; the one before is late by then. */
  connect(): { readonly user: UserId; readonly connection: PaperConnection } {
    const user = this.#person();
    if (this.buffer.lease !== undefined) this.now += LEASE_MS;
    const step = connectPaper({ suite, signer: serverSigner }, this.buffer, user, this.now as Millis);
    this.buffer = step.state;
    return { user, connection: granted(step.answer) };
  }

  key(user: UserId, connection: PaperConnection): Uint8Array {
    const issuer = unsafeTransparentIssuer(suite);
    return granted(issuePaperKey({ suite, issuer, serverKey: serverSigner.publicKey }, user, connection.ticket)).key;
  }

  /** A colluder takes the position and its key, and goes silent. */
  leakKey(): void {
    const { user, connection } = this.connect();
    this.trace.gotKey(this.key(user, connection));
  }

  /** What a user makes of a connection, without sending it. */
  contribution(user: UserId, connection: PaperConnection, isHonest = true): PaperContribution {
    const randomBytes = countingBytes((name) => {
      if (!isHonest) this.trace.knows(name);
    }, this.#counter);
    const key = this.key(user, connection);
    if (!isHonest) this.trace.gotKey(key);
    return granted(contributePaper({ suite, randomBytes, sealing }, connection, key, { alpha: 1, modulus: RING_32 }));
  }

  /** The bytes reach the server. */
  send(name: string, { plan, upload }: PaperContribution): void {
    this.trace.sawMasked(this.trace.newInput(name), plan);
    for (const sealed of upload.ciphertexts) this.trace.sawSealed((key) => opened(sealed, key));
  }

  /** An honest user is accepted at the next position. */
  accept(name: string): void {
    const { user, connection } = this.connect();
    const contribution = this.contribution(user, connection);
    this.send(name, contribution);
    this.#take(user, contribution);
  }

  /** A colluder is accepted at the next position. */
  acceptColluder(): void {
    const { user, connection } = this.connect();
    this.#take(user, this.contribution(user, connection, false));
  }

  #take(user: UserId, { upload }: PaperContribution): void {
    const step = acceptPaperUpload(this.buffer, user, upload, this.now as Millis);
    granted(step.answer);
    this.buffer = step.state;
  }

  /** A ciphertext of the server's own: public-key ciphertexts of the paper have no sender. */
  forged(slot: number): Uint8Array {
    const seed = countingBytes((name) => this.trace.knows(name), this.#counter)(32);
    const { ctx } = this.buffer;
    const nobody = new Uint8Array(32) as Parameters<typeof sealingContext>[2];
    return sealing.seal(seed, paperAttribute(suite, ctx, slot as Slot), sealingContext(ctx, 'paper', nobody, slot));
  }
}

/** A ciphertext of the transparent sealing says in clear what was sealed to whom. */
function opened(sealed: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  return equalBytes(sealed.subarray(SEED_BYTES, 2 * SEED_BYTES), key) ? sealed.slice(0, SEED_BYTES) : undefined;
}

/** What the server learns of K honest users when the keys of these positions leaked before. */
export function learnedInPaper(bufferSize: number, leakedKeys: ReadonlySet<number>): readonly string[] {
  const world = new PaperWorld(bufferSize);
  for (let position = 0; position < bufferSize; position++) {
    if (leakedKeys.has(position)) world.leakKey();
    world.accept(`x${position}`);
  }
  return world.trace.judge().learned;
}

/** The general law: m is the largest position not in T; the sum up to m, and each x_k with k > m singly. */
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

/** Attacks of the table that are combinations of masks, each played against `paper`: what the server learns. */
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
    const [, second] = world.buffer.inboxes[2] as readonly Uint8Array[];
    toldLast(world, 'x2', () => [second as Uint8Array]);
    return world.trace.judge().learned;
  },
};

/** Ua is late at position 2 and its bytes arrive all the same; Ub is accepted there. */
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
  const slot = (world.bufferSize - 1) as Slot;
  const told = { ...connection, ticket: { ...connection.ticket, slot }, inbox: inboxFor(slot) };
  world.send(name, world.contribution(user, resigned(told)));
}

function resigned(connection: PaperConnection): PaperConnection {
  const { signature: _, ...body } = connection.ticket;
  return { ...connection, ticket: { ...body, signature: serverSigner.sign(paperTicketCodec.statement(body)) } };
}
