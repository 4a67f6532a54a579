/** What K costs: users, server and authority for buffers of 10 to 1000 slots with slot keys; and a real close beside its masks. */
import { nodeTools } from '@basa/experiments';
import { measureClose } from './buffers/close.ts';
import { closeText } from './buffers/close-text.ts';
import { costsOfSizes, sizesText } from './buffers/sizes.ts';
import type { BenchResult } from './result.ts';

/** Of the close that is measured: drop-outs that leave after their keys are out. */
const CLOSE = { bufferSize: 100, dropped: 30, dimension: 1_000_000, workers: 2 };
const QUICK_CLOSE = { ...CLOSE, bufferSize: 20, dropped: 6 };

export async function benchBuffers({ quick }: { readonly quick: boolean }): Promise<BenchResult> {
  const sizes = costsOfSizes(quick ? [10, 30, 100] : [10, 30, 100, 300, 1000], nodeTools());
  const close = await measureClose(quick ? QUICK_CLOSE : CLOSE);
  return {
    text: [sizesText(sizes), closeText(close)].join('\n\n'),
    json: { buffers: { sizes, close } },
  };
}
