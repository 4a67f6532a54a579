/** The messages that the device of a tab has sent to its page. */
import type { Page } from 'playwright-core';
import { overheard } from './chromium.ts';

/** Waits until the page has received such a message. */
export function heardOf(page: Page, name: string): Promise<unknown> {
  return page.waitForFunction(
    (kind) =>
      (globalThis as unknown as { heard: { news: { kind: string }[] } }).heard.news.some((one) => one.kind === kind),
    name,
  );
}

/** The first update of the tab: the quantised words, and those that left. */
export async function updateOf(page: Page): Promise<{ readonly quantised: number[]; readonly masked: number[] }> {
  await heardOf(page, 'update');
  const { news } = await overheard(page);
  return news.find(({ kind }) => kind === 'update')?.['view'] as { quantised: number[]; masked: number[] };
}
