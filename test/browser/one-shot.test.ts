/** A tab of a real Chromium contributes in the one-shot mode to real services, and the pages show batches. */
import { isHybrid, SEALINGS } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { Conduct, heardOf, launchChromium, overhear, overheard, updateOf } from '@basa/testkit/browser/chromium.ts';
import { BUFFER_SIZE, TestPages, versionOf } from '@basa/testkit/browser/test-pages.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Only a hang is an error. */
const FOR_LONG = { timeout: 600_000, interval: 50 };
let web: TestPages;
let browser: Browser;
let context: BrowserContext;
let conduct: Conduct;

async function open(url: string): Promise<Page> {
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(url);
  return page;
}

const shows = (page: Page, id: string) => expect.poll(() => page.textContent(id), FOR_LONG);

describe.each(SEALINGS)('sealed with %s', (sealing) => {
  beforeAll(async () => {
    [web, browser] = await Promise.all([TestPages.open({ sealing }), launchChromium()]);
    conduct = new Conduct(web.url, web.processes.urls.authority);
    context = await browser.newContext();
    context.setDefaultTimeout(FOR_LONG.timeout);
    await overhear(context);
  });
  afterAll(async () => {
    await browser?.close();
    await web?.close();
  });

  it('a tab masks and uploads, two steps and no more, and its update is in the next version, bit by bit', async () => {
    const before = await web.reached(0);
    const watch = await open(web.url);
    await watch.click('#internals > summary');
    await watch.click('#batches-line');
    const page = await open(await web.joinLink());
    await page.click('#join');
    await heardOf(page, 'accepted');
    await shows(page, '#own-batch').toMatch(/next batch · for updates on version 0/);
    await shows(watch, '#batches-line').toBe(`1 open batch, with 1 of ${BUFFER_SIZE} updates`);
    const { quantised, masked } = await updateOf(page);
    const nodes = await web.contributeFromNode(0);
    expect(await web.reached(1)).toEqual(versionOf(before, [quantised, ...nodes]));
    await heardOf(page, 'left');

    const { news } = await overheard(page);
    const steps = news.flatMap(({ kind, step }) => (kind === 'step' ? [step] : []));
    expect([...new Set(steps)]).toEqual(['mask', 'upload']);
    expect(await page.locator('#costs th').allTextContents()).toEqual(['mask', 'upload']);
    expect(news.find(({ kind }) => kind === 'fate')).toMatchObject({ fate: 'included' });
    expect(masked.filter((word) => Math.abs(word | 0) < 2 ** 20).length).toBeLessThan(100); // about one in 2000 by chance

    await shows(watch, '#version').toBe('1');
    await shows(watch, '#ended .batch .status').toBe(
      `the sum is in the model · ${BUFFER_SIZE} of ${BUFFER_SIZE} uploads`,
    );
    expect(await watch.textContent('#sealing')).toBe(isHybrid(sealing) ? 'X25519 and ML-KEM-768' : 'X25519');
    expect(await page.textContent('#sealing')).toMatch(
      isHybrid(sealing) ? /stay secret as long as one/ : /quantum computer could break/,
    );
  });

  it('no page broke a rule: no console error, no violation of the policy, no request to anybody else', () => {
    expect(conduct.faults).toEqual([]);
  });
});
