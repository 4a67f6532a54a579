/** The worker that plays: measures the cost of cryptography here, then lets both modes run and learn in virtual time. */
import { drawDigits } from './drawn-digits.ts';
import { newLanes } from './lanes.ts';
import { Learner, playTrainer } from './learner.ts';
import type { FromPlay, ToPlay } from './play-messages.ts';
import { measurePrices } from './prices.ts';

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
