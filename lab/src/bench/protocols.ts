/** Every protocol, both modes of BASA included: the computation and traffic of a user and the server for one sum. */
import { type AggregationTools, fedmlCode, publishedCode } from '@basa/baselines';
import { nodeTools } from '@basa/simulator/virtual-time';
import { CHECKED, checkComposition } from './protocols/check.ts';
import { priceOf } from './protocols/composed.ts';
import { contenders } from './protocols/contenders.ts';
import { deviceHashes } from './protocols/device-hashes.ts';
import { lightSecAggCost } from './protocols/lightsecagg.ts';
import { abePrices, type VectorPrices, vectorPrices } from './protocols/prices.ts';
import { jsonOf, type Row, textOf } from './protocols/report.ts';
import type { BenchOptions, BenchResult } from './result.ts';

const WARM_UP = { users: 32, dropouts: 0.1 };
/** The buffer of asynchronous LightSecAgg. */
const BUFFER_SIZE = 10;

export async function benchProtocols({ quick }: BenchOptions): Promise<BenchResult> {
  const tools = nodeTools();
  const cpAbe = abePrices();
  const dimensions = quick ? [7850] : [7850, 100_000, 1_000_000];
  const prices = new Map(dimensions.map((d) => [d, vectorPrices(d, tools)]));
  const hashed = await deviceHashes(dimensions);
  const rows: Row[] = [];
  // One run before measuring: a cold process is several times slower.
  for (const { counted } of contenders(WARM_UP.dropouts, tools, cpAbe))
    priceOf(WARM_UP.users, WARM_UP.dropouts, counted);
  for (const n of quick ? [32] : [10, 32, 100]) {
    for (const dropouts of quick ? [0, 0.3] : [0, 0.1, 0.3]) {
      for (const { name, counted, ...charged } of contenders(dropouts, tools, cpAbe, hashed)) {
        const price = priceOf(n, dropouts, counted, charged);
        if (price === undefined) continue;
        for (const [d, vector] of prices) rows.push({ protocol: name, n, d, dropouts, ...price(d, vector) });
      }
      rows.push(...lightSecAggRows(n, dropouts, prices, tools));
    }
  }
  // The runs of the check have no SDK: its hashes are not charged there.
  const check = checkComposition(
    contenders(CHECKED.dropouts, tools, cpAbe),
    vectorPrices(CHECKED.dimension, tools),
    tools,
  );
  const vectors = [...prices].map(([d, price]) => ({ d, ...price }));
  return {
    text: textOf(rows, cpAbe, check, prices),
    json: { protocols: rows.map(jsonOf), composedToReal: check, vectors },
  };
}

function lightSecAggRows(
  n: number,
  dropouts: number,
  prices: ReadonlyMap<number, VectorPrices>,
  tools: AggregationTools,
): readonly Row[] {
  const present = n - Math.floor(n * dropouts);
  const variants = [
    { protocol: 'LightSecAgg U=0.7N', code: publishedCode(n), summed: present, isWeighted: false },
    { protocol: 'LightSecAgg U=N', code: fedmlCode(n), summed: present, isWeighted: false },
    {
      protocol: `LightSecAgg buffered K=${BUFFER_SIZE}`,
      code: publishedCode(n),
      summed: BUFFER_SIZE,
      isWeighted: true,
    },
  ];
  return variants.flatMap(({ protocol, code, ...choice }) =>
    [...prices].flatMap(([d, { addMs }]): readonly Row[] => {
      const cost = lightSecAggCost(code, d, { ...choice, present }, tools, addMs);
      return cost === undefined ? [] : [{ protocol, n, d, dropouts, ...cost }];
    }),
  );
}
