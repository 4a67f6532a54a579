/** Every protocol, BASA's two modes included: what a user and the server compute and send for one sum. */
import type { AggregationTools } from '@basa/baselines';
import {
  fedmlCode,
  plainAggregation,
  plainCombinationKernel,
  publishedCode,
  secAgg,
  secAggPlus,
} from '@basa/baselines';
import { paddedSealings } from '@basa/experiments';
import { abeSealings } from '@basa/experiments/real-sealings';
import { nodeEnvironment } from '@basa/experiments/simulation';
import { plainVectorKernel } from '@basa/masking';
import {
  createNodeKeystream,
  createWasmCombinationKernel,
  createWasmVectorKernel,
  nodeRandomBytes,
  nodeSuite,
} from '@basa/runtime/node';
import type { Environment, Sealings } from '@basa/simulator';
import { basaSealed, unsafeBasaPaper } from '@basa/simulator';
import type { Cost, Priced } from './protocols/composed.ts';
import { counted, priceOf } from './protocols/composed.ts';
import { lightSecAggCost } from './protocols/lightsecagg.ts';
import type { Meter } from './protocols/meter.ts';
import type { SealingPrices, VectorPrices } from './protocols/prices.ts';
import { sealingPrices, vectorPrices } from './protocols/prices.ts';
import { PUBLISHED } from './protocols/published.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

interface Row extends Cost {
  readonly protocol: string;
  readonly n: number;
  readonly d: number;
  readonly dropouts: number;
}

/** The buffer of asynchronous LightSecAgg. */
const BUFFER_SIZE = 10;

export function benchProtocols({ quick }: { readonly quick: boolean }): BenchResult {
  const tools: AggregationTools = {
    masks: {
      suite: nodeSuite,
      kernel: createWasmVectorKernel() ?? plainVectorKernel(),
      keystream: createNodeKeystream(),
    },
    combinations: createWasmCombinationKernel() ?? plainCombinationKernel(),
    randomBytes: nodeRandomBytes,
  };
  const sealing = sealingPrices();
  const dimensions = quick ? [7850] : [7850, 100_000, 1_000_000];
  const vectors = new Map(dimensions.map((d) => [d, vectorPrices(d, tools)]));
  const rows: Row[] = [];
  for (const n of quick ? [32] : [32, 100]) {
    for (const dropouts of quick ? [0, 0.3] : [0, 0.1, 0.3]) {
      for (const [protocol, price] of composedProtocols(n, dropouts, tools, sealing)) {
        for (const d of dimensions) {
          const cost = price?.(d, vectors.get(d) as VectorPrices);
          if (cost !== undefined) rows.push({ protocol, n, d, dropouts, ...cost });
        }
      }
      const present = n - Math.floor(n * dropouts);
      for (const d of dimensions) {
        const { addMs } = vectors.get(d) as VectorPrices;
        const variants = [
          ['LightSecAgg U=0.7N', publishedCode(n), present],
          ['LightSecAgg U=N', fedmlCode(n), present],
          [`LightSecAgg buffered K=${BUFFER_SIZE}`, publishedCode(n), BUFFER_SIZE],
        ] as const;
        for (const [protocol, code, summed] of variants) {
          const cost = lightSecAggCost(code, d, { summed, present }, tools, addMs);
          if (cost !== undefined) rows.push({ protocol, n, d, dropouts, ...cost });
        }
      }
    }
  }
  const check = checkComposition(tools, sealing, vectors.get(7850) as VectorPrices);
  return { text: textOf(rows, sealing, check), json: { protocols: rows.map(rounded), composedToReal: check } };
}

/** BASA sealed with K = 10 and CP-ABE that is really run, in full: what the composed user time is to it. */
function checkComposition(tools: AggregationTools, sealing: SealingPrices, prices: VectorPrices): number {
  const outside = (meter: Meter): Environment => ({ ...nodeEnvironment, tools: counted(tools, meter).masks });
  const real = priceOf(10, 0, (meter) => basaSealed(outside(meter), { sealings: abeSealings() }));
  const { seals, opens, issues } = sealing;
  const padded = (meter: Meter): Sealings => countSealing(meter, paddedSealings(nodeSuite, sealing));
  const composed = priceOf(10, 0, (meter) => basaSealed(outside(meter), { sealings: padded(meter) }), {
    seals,
    opens,
    issues,
  });
  const [whole, parts] = [real?.(7850, prices).userMs, composed?.(7850, prices).userMs];
  return Math.round((100 * (parts ?? Number.NaN)) / (whole ?? Number.NaN)) / 100;
}

function composedProtocols(
  n: number,
  dropouts: number,
  tools: AggregationTools,
  sealing: SealingPrices,
): readonly (readonly [string, Priced])[] {
  const { seals, opens, issues } = sealing;
  const basaMs = { seals, opens, issues };
  const risk = { corrupt: 0.05, dropped: Math.max(0.05, dropouts) };
  const outside = (meter: Meter): Environment => ({ ...nodeEnvironment, tools: counted(tools, meter).masks });
  const sealings = (meter: Meter): Sealings => countSealing(meter, paddedSealings(nodeSuite, sealing));
  return [
    ['plain', priceOf(n, dropouts, () => plainAggregation(tools))],
    ['SecAgg', priceOf(n, dropouts, (meter) => secAgg(counted(tools, meter)))],
    ['SecAgg+', priceOf(n, dropouts, (meter) => secAggPlus(counted(tools, meter), risk))],
    [
      'BASA paper',
      priceOf(n, dropouts, (meter) => unsafeBasaPaper(outside(meter), { sealings: sealings(meter) }), basaMs),
    ],
    ['BASA sealed', priceOf(n, dropouts, (meter) => basaSealed(outside(meter), { sealings: sealings(meter) }), basaMs)],
  ];
}

function countSealing(meter: Meter, { engine, issuer, sealing }: Sealings): Sealings {
  return {
    engine,
    issuer: {
      ...issuer,
      issue(attribute) {
        meter.count('issues');
        return issuer.issue(attribute);
      },
    },
    sealing: {
      ...sealing,
      seal(...input) {
        meter.count('seals');
        return sealing.seal(...input);
      },
      open(...input) {
        meter.count('opens');
        return sealing.open(...input);
      },
    },
  };
}

function rounded({ userMs, serverMs, authorityMs, ...row }: Row): object {
  const round = (ms: number): number => Math.round(100 * ms) / 100;
  return {
    ...row,
    userMs: round(userMs),
    serverMs: round(serverMs),
    ...(authorityMs ? { authorityMs: round(authorityMs) } : {}),
  };
}

function textOf(rows: readonly Row[], { seals, opens, issues }: SealingPrices, check: number): string {
  const body = rows.map(({ protocol, n, d, dropouts, userMs, serverMs, bytesUp, bytesDown }) => [
    protocol,
    `${n}`,
    d.toLocaleString('en'),
    `${100 * dropouts} %`,
    userMs.toFixed(1),
    serverMs.toFixed(1),
    Math.round(bytesUp).toLocaleString('en'),
    Math.round(bytesDown).toLocaleString('en'),
  ]);
  return [
    'One sum of n users, in processor time of one process; drop-outs happen after the keys are out and before the upload.',
    'A user is the median of those in the sum. For BASA, n is the size of its buffer.',
    'How: SecAgg, SecAgg+ and BASA run in full at 64 elements, and that sum is checked; work on vectors is added by',
    'counting mask expansions and charging each at the price of the real dimension, measured in this run. BASA runs with',
    `sealing of real size whose calls are counted, each charged as CP-ABE in this run: seal ${seals.toFixed(2)}, open`,
    `${opens.toFixed(2)}, key ${issues.toFixed(2)} ms. LightSecAgg: one user and the server at the real dimension. A row that is not there`,
    'is a sum the protocol refuses to open at so many drop-outs. Keys are agreed anew for each sum, by X25519.',
    '',
    `Check: a user of BASA sealed, K = 10, composed so, costs ${check} times one that really runs CP-ABE.`,
    '',
    formatTable(['protocol', 'n', 'd', 'drop-outs', 'user ms', 'server ms', 'user sends B', 'receives B'], body),
    '',
    'Published by others, on their machines; do not read as measured here:',
    formatTable(['source', 'setting', 'figure', 'standing'], PUBLISHED, 4),
  ].join('\n');
}
