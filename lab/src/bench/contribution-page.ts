/** A page that contributes on its own thread, and reports the time of each part and the longest task of that thread. */
import { openBrowserStore, webOutside } from '@basa/client/web';
import { type ConnectOptions, type Contributed, contributeByPart } from './contribution.ts';

export interface InPage {
  readonly parts: Contributed;
  readonly longestTaskMs: number;
}

let longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ entryTypes: ['longtask'] });

/** Until tasks that ran before were reported. */
const isIdle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 200));

async function contributeInPage(options: ConnectOptions, dimension: number, name: string): Promise<InPage> {
  const store = await openBrowserStore(name);
  const outside = await webOutside();
  const parts = await contributeByPart(outside, store, options, dimension, async () => {
    await isIdle();
    longest = 0;
  });
  await isIdle();
  return { parts, longestTaskMs: longest };
}

Object.assign(globalThis, { contributeInPage });
