/** The building blocks of every attack on `sealed`, and the shapes of the buffers it is played in. */
import { type DepositAnswer, isRefused } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { takeSlot } from './exhaustive.ts';
import type { BufferShape } from './federations.ts';
import type { Ledger, Source } from './ledger.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

interface Attack extends BufferShape {
  /** `broken` collects violations other than secrecy. */
  play(world: OracleWorld, broken: string[]): void;
}

export type Attacks = Readonly<Record<string, Attack>>;

export const THREE: BufferShape = { bufferSize: 3, minimum: 2 };
export const ALL_OF_THREE: BufferShape = { bufferSize: 3, minimum: 3 };
export const FOUR: BufferShape = { bufferSize: 4, minimum: 3 };
export const TWO_OF_FOUR: BufferShape = { bufferSize: 4, minimum: 2 };

/** Honest users in one buffer with their slots. */
export function seated(world: OracleWorld, count: number, ledger = world.drawBuffer()): [Ledger, WatchedDevice[]] {
  const users = Array.from({ length: count }, () => world.newUser(true));
  for (const user of users) takeSlot(world, ledger, user);
  return [ledger, users];
}

/** Goes from slot to upload, as far as it is allowed. */
export function finish(world: OracleWorld, ledger: Ledger, user: WatchedDevice): void {
  const request = user.askKey();
  const answer = isRefused(request) ? request : world.issueKey(request);
  if (!isRefused(answer)) user.takeKey(answer);
  send(world, ledger, user);
}

export function send(world: OracleWorld, ledger: Ledger, user: WatchedDevice): void {
  const sent = user.send();
  if (!isRefused(sent)) world.acceptUpload(ledger, sent);
}

export function closeAsProtocol(world: OracleWorld, ledger: Ledger): void {
  ledger.freeze();
  const request = ledger.closeRequest();
  if (!isRefused(request)) world.close(request);
}

export function depositOf(world: OracleWorld, ledger: Ledger, user: WatchedDevice): [Source, DepositAnswer] {
  const deposit = granted(user.join(ledger.buffer));
  world.remember(user);
  const answer = granted(world.acceptDeposit(ledger, deposit));
  return [ledger.sources.at(-1) as Source, answer];
}
