/**
 * Cost by buffer size: buffers of 10 to 300 slots (or 1000) with slot keys, batches of the one-shot mode, and a real close compared with
 * its mask expansions.
 */
import { nodeTools } from '@basa/virtual-time';
import { measureClose } from './buffers/close.ts';
import { closeText } from './buffers/close-text.ts';
import { costsOfShots, type ShotSize, shotsText } from './buffers/shots.ts';
import { costsOfSizes, sizesText } from './buffers/sizes.ts';
import type { BenchResult } from './result.ts';

/** The measured close: drop-outs leave after their keys are out. */
const CLOSE = { bufferSize: 100, dropped: 30, dimension: 1_000_000, workers: 2 };
const QUICK_CLOSE = { ...CLOSE, bufferSize: 20, dropped: 6 };

const [QUICK, USUAL, WHOLE] = [
  [10, 30, 100],
  [10, 30, 100, 300],
  [10, 30, 100, 300, 1000],
];

/** Sizes that are too large for slots. */
const SHOTS: readonly ShotSize[] = [
  { bufferSize: 1000, dimension: 1_000_000 },
  { bufferSize: 10_000, dimension: 7850 },
];
const QUICK_SHOTS: readonly ShotSize[] = [{ bufferSize: 100, dimension: 1_000_000 }];

export async function benchBuffers({
  quick,
  whole,
}: {
  readonly quick: boolean;
  readonly whole: boolean;
}): Promise<BenchResult> {
  const sizes = costsOfSizes(quick ? QUICK : whole ? WHOLE : USUAL, nodeTools());
  const shots = costsOfShots(quick ? QUICK_SHOTS : SHOTS, nodeTools());
  const close = await measureClose(quick ? QUICK_CLOSE : CLOSE);
  return {
    text: [sizesText(sizes), shotsText(shots), closeText(close)].join('\n\n'),
    json: { buffers: { sizes, shots, close } },
  };
}
