/** A tab of a real Chromium takes part in the unsafe mode of the paper, whose name it is told, against real services. */
import { unsafePaperContribute } from '@basa/client/unsafe-paper';
import { Conduct, heardOf, launchChromium, overhear, overheard, updateOf } from '@basa/testkit/browser/chromium.ts';
import { BUFFER_SIZE, quantisedOf, TestPages, versionOf, wholeUpdate } from '@basa/testkit/browser/test-pages.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Only a hang is an error. */
const FOR_LONG = { timeout: 600_000, interval: 50 };
let web: TestPages;
let browser: Browser;
let context: BrowserContext;
let conduct: Conduct;

beforeAll(async () => {
  [web, browser] = await Promise.all([TestPages.open({ isPaper: true }), launchChromium()]);
  conduct = new Conduct(web.url, web.processes.urls.authority);
  context = await browser.newContext();
  context.setDefaultTimeout(FOR_LONG.timeout);
  await overhear(context);
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
});

it('a tab joins only by the button that says what the mode is, and its update is in the next version', async () => {
  const before = await web.reached(0);
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(await web.joinLink()); // it asks to join at once
  await expect.poll(() => page.textContent('#join'), FOR_LONG).toBe('Join in unsafe paper mode');
  expect(await page.textContent('#paper-note')).toMatch(
    /unsafe: even a server that follows the protocol can learn your single update/,
  );
  expect(await page.isVisible('#paper-note')).toBe(true);
  expect(page.workers()).toEqual([]);
  await page.click('#join');
  await heardOf(page, 'accepted');
  const { quantised, masked } = await updateOf(page);
  expect(masked).not.toEqual(quantised);
  const updates: ArrayLike<number>[] = [quantised];
  for (let n = 1; n < BUFFER_SIZE; n++) {
    const client = await web.client(`device-${n}`);
    const update = wholeUpdate(web.processes.policy.dimension, n);
    const given = await unsafePaperContribute(client, update, { trainedOn: (await client.model()).version });
    expect(given).toMatchObject({ kind: 'accepted', position: n });
    updates.push(quantisedOf(update));
  }
  expect(await web.reached(1)).toEqual(versionOf(before, updates));
  await heardOf(page, 'left');
  const { news } = await overheard(page);
  expect(news.find(({ kind }) => kind === 'accepted')).toMatchObject({ position: 0 });
  expect(await page.locator('#costs th').allTextContents()).toEqual([
    'take the position',
    'get the key',
    'mask',
    'upload',
  ]);
  expect(conduct.faults).toEqual([]);
});

it('a tab takes no part if the server hides that the task is in this mode', async () => {
  const page = await context.newPage();
  await page.route('**/v1/tasks', async (route) => {
    const answer = await route.fetch();
    const { tasks } = (await answer.json()) as { tasks: object[] };
    await route.fulfill({ response: answer, json: { tasks: tasks.map((one) => ({ ...one, mode: 'one-shot' })) } });
  });
  await page.goto(await web.joinLink());
  await heardOf(page, 'failed');
  const { news } = await overheard(page);
  expect(news.at(-1)).toMatchObject({ message: expect.stringContaining('its sums mix versions of the model') });
  await page.close();
});
