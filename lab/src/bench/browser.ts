/** Masking in a Web Worker of Chromium and in Node, alternating in one run: checks that the masks are equal, and gives the ratio of the times. */
import { fileURLToPath } from 'node:url';
import { applyMasksInPlace, type MaskPlan, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const EXPANSIONS = 9; // K = 10
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

export async function benchBrowser(): Promise<BenchResult> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await openWorker(page);
    const rows: string[][] = [];
    const json: Record<string, number> = {};
    for (const d of DIMENSIONS) {
      const best = {
        node: Number.POSITIVE_INFINITY,
        chromium: Number.POSITIVE_INFINITY,
        cipher: Number.POSITIVE_INFINITY,
      };
      for (let turn = 0; turn < TURNS; turn++) {
        const [node, chromium] = [maskInNode(d), await maskInChromium(page, d)];
        if (String(node.first) !== String(chromium.first))
          throw new Error('Chromium masked with other masks than Node');
        best.node = Math.min(best.node, node.ms);
        best.chromium = Math.min(best.chromium, chromium.ms);
        best.cipher = Math.min(best.cipher, chromium.cipherMs);
      }
      const ratio = best.chromium / best.node;
      const ratioToWebCrypto = best.chromium / best.cipher;
      rows.push([
        d.toLocaleString('en'),
        ...[best.node, best.chromium].map((ms) => ms.toFixed(1)),
        ratio.toFixed(2),
        best.cipher.toFixed(1),
        ratioToWebCrypto.toFixed(2),
      ]);
      Object.assign(json, {
        [`d${d}`]: { nodeMs: best.node, chromiumMs: best.chromium, ratio, webCryptoMs: best.cipher, ratioToWebCrypto },
      });
    }
    const text = `Masking with K = 10 (${EXPANSIONS} expansions) in the ring 2^32: Node's cipher compared with WebCrypto in a worker of Chromium ${browser.version()}, best of ${TURNS}.\n\n${formatTable(['d', 'Node ms', 'Chromium ms', 'ratio', 'only WebCrypto ms', 'ratio'], rows)}`;
    return { text, json: { browser: json } };
  } finally {
    await browser.close();
  }
}

/** At an address that browsers trust, because WebCrypto exists only there. */
async function openWorker(page: Page): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('browser/masking-worker.ts', import.meta.url))],
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

function maskInChromium(page: Page, d: number): Promise<InChromium> {
  return page.evaluate(
    (asked) =>
      new Promise<InChromium>((resolve) => {
        const { worker } = globalThis as unknown as { readonly worker: Worker };
        worker.addEventListener('message', ({ data }) => resolve(data as InChromium), { once: true });
        worker.postMessage(asked);
      }),
    { d, expansions: EXPANSIONS },
  );
}

const nodeTools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

function maskInNode(d: number): Measured {
  const vector = new Uint32Array(d);
  const terms = Array.from({ length: EXPANSIONS }, (_, i) => ({
    seed: new Secret(new Uint8Array(32).fill(i + 1)),
    sign: i % 2 === 0 ? (1 as const) : (-1 as const),
  }));
  const plan: MaskPlan = { modulus: RING_32, salt: new Uint8Array(32), terms };
  const began = performance.now();
  applyMasksInPlace(vector, plan, nodeTools);
  return { ms: performance.now() - began, first: [...vector.subarray(0, 4)] };
}
