/** The worker behind "Play the paper": measures the prices of this machine, and plays both lanes. */
import type { Ctx, Position } from '@basa/protocol';
import { paperAttribute } from '@basa/protocol/paper';
import { webRandomBytes, webSuite } from '@basa/runtime/web';
import { type PaperSealings, partTrial } from '@basa/simulator';
import { loadPaperSealings } from '../shared/simulation.ts';
import { drawDigits, Learner, newLanes, playTrainer } from './lanes.ts';
import type { FromPlay, PaperPrices, Prices, ToPlay } from './play-messages.ts';

const TRIES = 8;
const POSITION = 1 as Position;

async function measurePrices(): Promise<Prices> {
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

interface WorkerScope {
  postMessage(news: FromPlay): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<ToPlay>) => void): void;
}

const FRAME_MS = 100;
/** A frame that takes longer is cut short: virtual time goes as fast as this machine trains. */
const WORK_MS = 80;
const SLICES = 20;
const scope = self as unknown as WorkerScope;
const measured = measurePrices();
let speed = 1;
let lanes: ReturnType<typeof newLanes> | undefined;
let time = 0;
const [trainer, digits] = [playTrainer(), drawDigits()];

scope.addEventListener('message', async ({ data }) => {
  if (data.kind === 'speed') {
    speed = data.virtualSecondsPerSecond;
    return;
  }
  const prices = await measured;
  scope.postMessage({ kind: 'prices', prices });
  lanes = newLanes(data.settings, prices, () => new Learner(trainer, digits));
  time = 0;
});

setInterval(() => {
  if (lanes === undefined || speed === 0) return;
  const until = performance.now() + WORK_MS;
  for (let slice = 0; slice < SLICES && performance.now() < until; slice++) {
    time += (speed * FRAME_MS) / 1000 / SLICES;
    for (const lane of [lanes.paper, lanes.oneShot]) lane.playUntil(time);
  }
  scope.postMessage({
    kind: 'state',
    time,
    lanes: { paper: lanes.paper.state(time), oneShot: lanes.oneShot.state(time) },
  });
}, FRAME_MS);
