/** The measured costs, as tables of the page. */
import { type Costs, MAX_SPREAD, type Sampled } from '@basa/simulator/virtual-time';
import type { Table } from './outcome.ts';

const COLUMNS = ['operation', 'ms', 'spread'];

export function costsTables(costs: Costs): readonly Table[] {
  return [
    vectorTable(costs),
    {
      title: 'Sealing, training, records',
      columns: COLUMNS,
      rows: [
        ...Object.entries(costs.sealing).flatMap(([sealing, prices]) =>
          (['seal', 'open', 'issue'] as const).map((name) => rowOf(`${sealing}: ${name}`, prices[name])),
        ),
        ...Object.entries(costs.training).map(([model, price]) => rowOf(`one example, ${model}`, price)),
        rowOf('one durable record (time on the clock)', costs.durable),
      ],
      note: `A spread above ${100 * MAX_SPREAD} % is marked "noisy". Be careful with numbers that depend on it.`,
    },
  ];
}

/** One line for each operation, one group of columns for each dimension. */
function vectorTable({ vectors }: Costs): Table {
  const dimensions = Object.entries(vectors);
  const kinds = ['ring', 'field', 'words'] as const;
  const rows = kinds.flatMap((kind) => {
    const names = Object.keys(dimensions[0]?.[1][kind] ?? {});
    return names.map((name) => [
      kind === 'words' ? name : `${name} in the ${kind}`,
      ...dimensions.flatMap(([, prices]) => {
        const price = (prices[kind] as Readonly<Record<string, Sampled>>)[name];
        return price === undefined ? ['', ''] : [shownMs(price), shownSpread(price)];
      }),
    ]);
  });
  return {
    title: 'Vectors, by dimension',
    groups: [
      { title: '', columns: 1 },
      ...dimensions.map(([dimension]) => ({ title: `d = ${Number(dimension).toLocaleString('en')}`, columns: 2 })),
    ],
    columns: ['operation', ...dimensions.flatMap(() => ['ms', 'spread'])],
    rows,
  };
}

function rowOf(name: string, price: Sampled): readonly string[] {
  return [name, shownMs(price), shownSpread(price)];
}

function shownMs({ ms }: Sampled): string {
  return ms.toPrecision(3);
}

function shownSpread({ spread }: Sampled): string {
  return `${(100 * spread).toFixed(0)} %${spread > MAX_SPREAD ? ' noisy' : ''}`;
}
