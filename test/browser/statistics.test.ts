/** The page Watch of a statistics task: results of real services in a real Chromium, with error bars, and why there are none. */
import { join } from 'node:path';
import { BasaClient, defineFields } from '@basa/client/node';
import { createStatisticsTask } from '@basa/client/operator';
import { SERVER_PATH } from '@basa/protocol/http';
import type { LiveState } from '@basa/protocol/internal/http/live.ts';
import { freePort } from '@basa/service/free-port';
import { bundledPages } from '@basa/testkit/browser/bundle-pages.ts';
import { Conduct, launchChromium } from '@basa/testkit/browser/chromium.ts';
import { bundledServices } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';

const FOR_LONG = { timeout: 600_000, interval: 50 };
const FIELDS = defineFields({ battery: { low: 0, high: 100, step: 25 }, network: { choices: ['wifi', 'mobile'] } });
/** No window ends while the test runs. */
const WINDOW_MS = 4_000_000_000;
const DAY_MS = 86_400_000;

const NONE = { answers: 0, ms: 0, received: 0, sent: 0 };
/** A state without windows, as a server tells it. */
const STATE: Omit<LiveState, 'task'> = {
  ...{ at: 0, startedAt: 0, name: 'usage', mode: 'one-shot', state: 'running', stop: {}, versions: [], batches: [] },
  ...{ steps: { model: NONE, upload: NONE }, refusals: {}, fetches: [] },
  admission: { places: 0, used: 0, underWay: 0, waiting: 0, waitingBatches: 0 },
};

let processes: TestProcesses;
let browser: Browser;
let conduct: Conduct;
let task: string;

beforeAll(async () => {
  const port = await freePort();
  processes = await TestProcesses.open({
    bundle: await bundledServices(),
    policy: { dimension: 1 },
    server: { port, pagesFolder: await bundledPages() },
    authority: { corsOrigins: [`http://127.0.0.1:${port}`] },
  });
  const settings = { name: 'usage', fields: FIELDS, windowMs: WINDOW_MS, bufferSize: 3, minimum: 3, unsafeExact: true };
  ({ task } = await createStatisticsTask(processes, { ...settings, publicModels: true }));
  browser = await launchChromium();
  conduct = new Conduct(processes.urls.server, processes.urls.authority);
});
afterAll(async () => {
  await browser?.close();
  await processes?.close();
});

async function open(path = `#task=${task}`): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(`${processes.urls.server}/${path}`);
  return page;
}

const shows = (page: Page, selector: string) => expect.poll(() => page.textContent(selector), FOR_LONG);

async function report(battery: number, network: 'wifi' | 'mobile'): Promise<void> {
  const { urls, authorityKey } = processes;
  const [token = ''] = await processes.authority.tokens(task, 1, Date.now() + 3_600_000);
  const identity = join(processes.folder, 'devices', `${battery}`);
  const device = await BasaClient.connect({ ...urls, task, authorityKey, token, identity, floor: { noNoise: true } });
  const result = await device.report<typeof FIELDS>({ battery, network }, { fields: FIELDS });
  expect(result.kind).toBe('accepted');
  await device.close();
}

it('results appear while the page looks on: a line for a number, bars for choices, and the number of devices', async () => {
  const page = await open();
  await shows(page, '#window-status').toMatch(/^There is no result yet: reports are summed when enough/);
  expect(await page.isVisible('#accuracy')).toBe(false);
  for (const [battery, network] of [
    [25, 'wifi'],
    [50, 'wifi'],
    [75, 'mobile'],
  ] as const)
    await report(battery, network);
  await shows(page, '#window-status').toMatch(
    /^Newest result: the window of .*, 3 devices\. More reports of it may come\.$/,
  );
  await shows(page, '#fields').toContain('Mean 50 ± 0 over 3 devices');
  await page.waitForSelector('#fields canvas');
  expect(await page.locator('#fields .bars tr').allTextContents()).toEqual(['wifi2', 'mobile1', 'other0']);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.close();
});

it('error bars begin and end at the bounds of 95 %, a window of a day shows its date, and one with too few reports says so', async () => {
  const page = await open('#');
  await page.route(`**${SERVER_PATH.events(task)}`, async (route) => {
    const buckets = ['wifi', 'mobile'].map((bucket, n) => ({ bucket, count: 10 * n }));
    const fields = [
      { kind: 'number', name: 'battery', mean: 40, error: 1 },
      { kind: 'histogram', name: 'network', error: 5, buckets },
    ];
    const day = (window: number) => ({ window, from: window * DAY_MS, to: (window + 1) * DAY_MS, isOver: true });
    const windows = [
      { ...day(20_000), devices: 10, lost: 0, fields },
      { ...day(20_001), devices: 0, lost: 2, fields: [], why: 'no batch of at least 3 reports was opened' },
    ];
    const body = `data: ${JSON.stringify({ ...STATE, windows })}\n\n`;
    await route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.goto(`${processes.urls.server}/?again#task=${task}`);
  await shows(page, '#window-status').toBe(
    'Newest result: the window of 4 Oct 2024, 10 devices. The window of 5 Oct 2024 has no result: no batch of at least 3 reports was opened.',
  );
  await shows(page, '#window-devices').toContain('0, 2 reports left out: no batch of at least 3 reports was opened');
  await shows(page, '#fields').toContain('Mean 40 ± 1.96 over 10 devices');
  const bounds = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('#fields .bars tr')].map(({ style }) =>
      ['--low', '--share', '--high'].map((name) => Number(style.getPropertyValue(name))),
    ),
  );
  const wide = 1.96 * 5;
  const most = 10 + wide;
  expect(bounds).toEqual([
    [0, 0, wide / most],
    [(10 - wide) / most, 10 / most, 1],
  ]);
  await page.close();
});

it('Join says that there is nothing to train, and joins nothing', async () => {
  const page = await open(`join.html#task=${task}`);
  await shows(page, '#no-task').toMatch(/^This task gathers statistics, so there is nothing to train here: /);
  expect(await page.isVisible('#no-task')).toBe(true);
  expect(await page.isDisabled('#join')).toBe(true);
  await page.close();
});

it('no page broke a rule: no console error, no violation of the policy, no request to anybody else', () => {
  expect(conduct.faults).toEqual([]);
});
