/**
 * Chromium and Node, alternating in one run: masking in a worker, where the masks are checked to be equal, and whole contributions by part on
 * the main thread of a page.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOutside, openFolderStore } from '@basa/client/node';
import { applyMasksInPlace, RING_32 } from '@basa/masking';
import { nodeTools } from '@basa/simulator/virtual-time';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { type ConnectOptions, type Contributed, contributeByPart, PARTS } from './contribution.ts';
import type { InPage } from './contribution-page.ts';
import { EXPANSIONS, planOf } from './masked.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const SMALL = 100_000;
const DIMENSIONS = [SMALL, 2 ** 20];
const TURNS = 20;
const CONTRIBUTIONS = 9;

interface Measured {
  readonly ms: number;
  readonly first: readonly number[];
}

interface InChromium extends Measured {
  /** Only WebCrypto, for the same bytes. */
  readonly cipherMs: number;
}

export async function benchBrowser({ quick }: BenchOptions): Promise<BenchResult> {
  // The page is of no service, so their answers would be kept from it.
  const browser = await launchChromium('--disable-web-security');
  try {
    const page = await browser.newPage();
    await openPage(page);
    const turns = quick ? 2 : TURNS;
    const results = [];
    for (const d of quick ? DIMENSIONS.slice(0, 1) : DIMENSIONS) results.push(await compare(page, d, turns));
    const contributions = await contribute(page, quick ? SMALL : 2 ** 20, quick ? 1 : CONTRIBUTIONS);
    const text = [
      `Masking with K = 10 (${EXPANSIONS} expansions) in the ring 2^32: Node's cipher compared with WebCrypto in a worker of Chromium`,
      `${browser.version()}, best of ${turns}.`,
      '',
      formatTable(
        ['d', 'Node ms', 'Chromium ms', 'ratio', 'only WebCrypto ms', 'ratio'],
        results.map(({ d, nodeMs, chromiumMs, ratio, webCryptoMs, ratioToWebCrypto }) => [
          d.toLocaleString('en'),
          ...[nodeMs.toFixed(1), chromiumMs.toFixed(1), ratio.toFixed(2)],
          ...[webCryptoMs.toFixed(1), ratioToWebCrypto.toFixed(2)],
        ]),
      ),
      '',
      contributionText(contributions),
    ].join('\n');
    return { text, json: { browser: results, contributions } };
  } finally {
    await browser.close();
  }
}

async function compare(page: Page, d: number, turns: number) {
  let [nodeMs, chromiumMs, webCryptoMs] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ];
  for (let turn = 0; turn < turns; turn++) {
    const [node, chromium] = [maskInNode(d), await maskInChromium(page, d)];
    if (String(node.first) !== String(chromium.first)) throw new Error('Chromium masked with other masks than Node');
    nodeMs = Math.min(nodeMs, node.ms);
    chromiumMs = Math.min(chromiumMs, chromium.ms);
    webCryptoMs = Math.min(webCryptoMs, chromium.cipherMs);
  }
  return { d, nodeMs, chromiumMs, webCryptoMs, ratio: chromiumMs / nodeMs, ratioToWebCrypto: chromiumMs / webCryptoMs };
}

interface Contributions {
  readonly d: number;
  readonly turns: number;
  readonly node: Contributed;
  readonly chromium: Contributed;
  /** In the contribution with the least noise. */
  readonly longestTaskMs: number;
}

/** Each contribution is that of a new device, in turn: the first in Node, the second in the page. */
async function contribute(page: Page, d: number, turns: number): Promise<Contributions> {
  const services = await TestServices.open({ policy: { dimension: d, bufferSize: 100, minimum: 100 } });
  const options = async (): Promise<ConnectOptions> => ({
    server: services.server.url,
    ...services.authorityPins,
    task: services.task,
    token: await services.token(),
    floor: { minimum: 2, noNoise: true },
  });
  try {
    const [inNode, inPage]: [Contributed[], InPage[]] = [[], []];
    // The first of each is slower, because its code is compiled.
    for (let turn = 0; turn <= turns; turn++) {
      const store = await openFolderStore(await mkdtemp(join(tmpdir(), 'basa-bench-')));
      inNode.push(await contributeByPart(nodeOutside(), store, await options(), d, async () => {}));
      inPage.push(
        await page.evaluate(
          ([asked, dimension, name]) => {
            const { contributeInPage } = globalThis as unknown as {
              contributeInPage(options: ConnectOptions, dimension: number, name: string): Promise<InPage>;
            };
            return contributeInPage(asked, dimension, name);
          },
          [await options(), d, `device-${turn}`] as const,
        ),
      );
    }
    const pages = inPage.slice(1);
    return {
      d,
      turns,
      node: leastOf(inNode.slice(1)),
      chromium: leastOf(pages.map(({ parts }) => parts)),
      longestTaskMs: Math.min(...pages.map(({ longestTaskMs }) => longestTaskMs)),
    };
  } finally {
    await services.close();
  }
}

/** Of each part: on a shared machine noise only ever adds. */
function leastOf(all: readonly Contributed[]): Contributed {
  return Object.fromEntries(PARTS.map((part) => [part, Math.min(...all.map((one) => one[part]))])) as Contributed;
}

function contributionText({ d, turns, node, chromium, longestTaskMs }: Contributions): string {
  const own = (parts: Contributed): number =>
    PARTS.reduce((sum, part) => sum + (part === 'network' ? 0 : parts[part]), 0);
  const row = (name: string, one: number, other: number): readonly string[] => [
    name,
    ...[one.toFixed(1), other.toFixed(1), (other / one).toFixed(2)],
  ];
  return [
    `One contribution at d = ${d.toLocaleString('en')} by part, on the main thread; each the least of ${turns} new devices in turn:`,
    formatTable(
      ['part', 'Node ms', 'Chromium ms', 'ratio'],
      [...PARTS.map((part) => row(part, node[part], chromium[part])), row('without network', own(node), own(chromium))],
    ),
    `The longest task of the page took ${longestTaskMs.toFixed(0)} ms, in the calmest contribution (0: none above 50 ms).`,
  ].join('\n');
}

/** At an address that browsers trust, because WebCrypto exists only there. */
async function openPage(page: Page): Promise<void> {
  const [worker, script] = await Promise.all(['browser-worker.ts', 'contribution-page.ts'].map(bundled));
  const scripts = [
    ['http://localhost/worker.js', worker],
    ['http://localhost/page.js', script],
  ] as const;
  for (const [url, body = ''] of scripts)
    await page.route(url, (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.route('http://localhost/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    }),
  );
  await page.goto('http://localhost/');
  await page.evaluate(() => {
    Object.assign(globalThis, { worker: new Worker('/worker.js', { type: 'module' }) });
  });
}

async function bundled(name: string): Promise<string | undefined> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@basa/source'],
  });
  return outputFiles[0]?.text;
}

function maskInChromium(page: Page, dimension: number): Promise<InChromium> {
  return page.evaluate(
    (asked) =>
      new Promise<InChromium>((resolve) => {
        const { worker } = globalThis as unknown as { readonly worker: Worker };
        worker.addEventListener('message', ({ data }) => resolve(data as InChromium), { once: true });
        worker.postMessage(asked);
      }),
    dimension,
  );
}

const { masks } = nodeTools();

function maskInNode(dimension: number): Measured {
  const vector = new Uint32Array(dimension);
  const plan = planOf(RING_32);
  const began = performance.now();
  applyMasksInPlace(vector, plan, masks);
  return { ms: performance.now() - began, first: [...vector.subarray(0, 4)] };
}
