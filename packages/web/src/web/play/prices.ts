/** The cost of sealing and opening in this tab, in each mode: the fastest of a few runs, because the machine may be busy. */
import type { Ctx, Position } from '@basa/protocol';
import { paperAttribute } from '@basa/protocol/paper';
import { webRandomBytes, webSuite } from '@basa/runtime/web';
import { type PaperSealings, partTrial } from '@basa/simulator';
import { loadPaperSealings } from '../shared/simulation.ts';
import type { PaperPrices, Prices } from './play-messages.ts';

const TRIES = 8;
const POSITION = 1 as Position;

export async function measurePrices(): Promise<Prices> {
  return { paper: paperPrices((await loadPaperSealings())()), oneShot: oneShotPrices() };
}

function paperPrices({ issuer, sealing }: PaperSealings): PaperPrices {
  const [seal, open, issue] = [new Price(), new Price(), new Price()];
  const [seed, context] = [webRandomBytes(32), webRandomBytes(32)];
  for (let n = 0; n < TRIES; n++) {
    const attribute = paperAttribute(webSuite, webRandomBytes(32) as Ctx, POSITION);
    const key = issue.of(() => issuer.issue(attribute));
    const sealed = seal.of(() => sealing.seal(seed, attribute, context));
    open.of(() => sealing.open(sealed, key, context));
  }
  return { sealSeconds: seal.seconds, openSeconds: open.seconds, issueSeconds: issue.seconds };
}

function oneShotPrices(): Prices['oneShot'] {
  const tools = { suite: webSuite, randomBytes: webRandomBytes };
  const trial = partTrial(tools, { authorities: 1, tolerated: 0, sealing: 'x25519' });
  const [seal, open] = [new Price(), new Price()];
  for (let n = 0; n < TRIES; n++) {
    seal.of(trial.seal);
    open.of(trial.open);
  }
  return { sealSeconds: seal.seconds, openSeconds: open.seconds };
}

/** The fastest run so far. */
class Price {
  seconds = Number.POSITIVE_INFINITY;

  of<Result>(work: () => Result): Result {
    const began = performance.now();
    const result = work();
    this.seconds = Math.min(this.seconds, (performance.now() - began) / 1000);
    return result;
  }
}
