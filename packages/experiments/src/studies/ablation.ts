/** Ours: what each decision of sealed mode buys, in seconds for one aggregation. */
import type { Cell } from '../cell.ts';
import { CELL, exponential } from '../cell.ts';
import type { Context, Profile, Study } from '../context.ts';
import { needsOfCells, timeOnly } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import { ordering } from '../outcome.ts';
import { FEMNIST, MNIST_SMOKE } from '../tasks.ts';
import { betaOf, round } from './protocol-cells.ts';

interface Variant {
  readonly name: string;
  readonly cell: Cell;
}

const BETAS = [0, 3] as const;

function variantsOf(profile: Profile): readonly Variant[] {
  const task = profile === 'smoke' ? MNIST_SMOKE : { ...FEMNIST, cap: { buffers: 500, rounds: 200 } };
  const sizes = profile === 'smoke' ? [4] : [5, 20, 32];
  return BETAS.flatMap((beta) => {
    const paper: Cell = { ...CELL, task, protocol: 'BASA paper', delay: exponential(beta), compute: 1 };
    const sealed: Cell = { ...paper, protocol: 'BASA sealed' };
    return [
      { name: 'no SA', cell: { ...paper, protocol: 'no SA' as const } },
      { name: 'paper: one turn after the other', cell: paper },
      { name: 'paper, two buffers side by side', cell: { ...paper, turn: { parallelBuffers: 2 } } },
      { name: 'paper, four buffers side by side', cell: { ...paper, turn: { parallelBuffers: 4 } } },
      { name: 'paper, deposit first: masks after the turn', cell: { ...paper, turn: { isDepositFirst: true } } },
      { name: 'sealed: no turn', cell: sealed },
      { name: 'sealed, slot keys', cell: { ...sealed, engine: 'slot-keys' as const } },
      ...sizes.map((bufferSize) => ({ name: `sealed, K = ${bufferSize}`, cell: { ...sealed, bufferSize } })),
    ];
  });
}

export const ablation: Study = {
  name: 'ablation',
  title: 'Ablation: the turn, deposits, the engine, the buffer',
  needs: (profile) => allNeeds(needsOfCells(variantsOf(profile).map(({ cell }) => cell))),
  async run({ profile, costs }: Context) {
    const rows = variantsOf(profile).map(({ name, cell }) => {
      const { times, order, utilisation, meanStaleness } = timeOnly(cell, costs);
      const updates = order.reduce((sum, version) => sum + version.length, 0);
      return {
        experiment: 'ablation',
        variant: name,
        beta: betaOf(cell),
        secondsPerUpdate: round((times.at(-1) ?? 0) / updates),
        meanStaleness: round(meanStaleness),
        ...Object.fromEntries(Object.entries(utilisation).map(([part, share]) => [`busy ${part}`, round(share)])),
      };
    });
    const of = (variant: string, beta: number): number | undefined =>
      rows.find((row) => row.variant === variant && row.beta === beta)?.secondsPerUpdate;
    const names = [...new Set(rows.map(({ variant }) => variant))];
    return {
      experiment: 'ablation',
      title: this.title,
      profile,
      rows,
      tables: [
        {
          title: 'Seconds for each update that is in a sum; 32 users, FEMNIST CNN, 1 s of training',
          columns: ['variant', ...BETAS.flatMap((beta) => [`beta ${beta}`, 'to no SA'])],
          rows: names.map((name) => [
            name,
            ...BETAS.flatMap((beta) => {
              const [here, plain] = [of(name, beta) ?? Number.NaN, of('no SA', beta) ?? Number.NaN];
              return [here.toFixed(4), (here / plain).toFixed(2)];
            }),
          ]),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          "sealed is ahead of the paper's turn",
          BETAS.map((beta) => [
            `beta ${beta}`,
            of('sealed: no turn', beta),
            of('paper: one turn after the other', beta),
          ]),
        ),
        ordering(
          'deposit first is ahead of the whole turn',
          BETAS.map((beta) => [
            `beta ${beta}`,
            of('paper, deposit first: masks after the turn', beta),
            of('paper: one turn after the other', beta),
          ]),
        ),
        ordering(
          'slot keys are no slower than CP-ABE',
          BETAS.map((beta) => [`beta ${beta}`, of('sealed, slot keys', beta), of('sealed: no turn', beta)]),
        ),
      ],
      notes: [
        'Timing alone. Modulus width changes bytes, not seconds without a network: 32, 20 and 16 bits are 4.0, 2.5 and 2.0 bytes a parameter (npm run bench -- messages).',
      ],
    };
  },
};
