/** Masking in a Web Worker of Chromium and in Node, alternating in one run: checks that the masks are equal, and gives the ratio of the times. */
import { fileURLToPath } from 'node:url';
import { applyMasksInPlace, RING_32 } from '@basa/masking';
import { nodeTools } from '@basa/simulator/virtual-time';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { EXPANSIONS, planOf } from './masked.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const DIMENSIONS = [100_000, 2 ** 20];
const TURNS = 20;

interface Measured {
  readonly ms: number;
  readonly first: readonly number[];
}

interface InChromium extends Measured {
  /** Only WebCrypto, for the same bytes. */
  readonly cipherMs: number;
}

export async function benchBrowser({ quick }: BenchOptions): Promise<BenchResult> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await openWorker(page);
    const turns = quick ? 2 : TURNS;
    const results = [];
    for (const d of quick ? DIMENSIONS.slice(0, 1) : DIMENSIONS) results.push(await compare(page, d, turns));
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
    ].join('\n');
    return { text, json: { browser: results } };
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

/** At an address that browsers trust, because WebCrypto exists only there. */
async function openWorker(page: Page): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('browser-worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['@basa/source'],
  });
  const body = outputFiles[0]?.text ?? '';
  await page.route('http://localhost/worker.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.route('http://localhost/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><link rel="icon" href="data:,">' }),
  );
  await page.goto('http://localhost/');
  await page.evaluate(() => {
    Object.assign(globalThis, { worker: new Worker('/worker.js', { type: 'module' }) });
  });
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
