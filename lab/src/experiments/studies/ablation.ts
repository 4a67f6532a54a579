/** Our study: the benefit of each design decision of sealed mode, in seconds per aggregation. */
import { CELL, type Cell, exponential, FEMNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering } from '../report/outcome.ts';
import { type Context, NO_CELLS, needsOfCells, type Profile, type Study, timeOnly } from '../run/context.ts';
import { computeOf } from './computes.ts';
import { betaOf, round } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

interface Variant {
  readonly name: string;
  readonly cell: Cell;
}

const BETAS = [0, 3] as const;

function variantsOf(profile: Profile): readonly Variant[] {
  const task = profile === 'smoke' ? MNIST_SMOKE : { ...FEMNIST, cap: { buffers: 500, rounds: 200 } };
  const sizes = profile === 'smoke' ? [4] : [5, 20, 32];
  return BETAS.flatMap((beta) => {
    const compute = computeOf('declared', task);
    const paper: Cell = { ...CELL, task, protocol: 'BASA paper', delay: exponential(beta), compute };
    const sealed: Cell = { ...paper, protocol: OURS };
    return [
      { name: 'no SA', cell: { ...paper, protocol: 'no SA' as const } },
      { name: 'paper: one turn after the other', cell: paper },
      { name: 'paper, two buffers side by side', cell: { ...paper, turn: { parallelBuffers: 2 } } },
      { name: 'paper, four buffers side by side', cell: { ...paper, turn: { parallelBuffers: 4 } } },
      { name: 'paper, deposit first: masks after the turn', cell: { ...paper, turn: { isDepositFirst: true } } },
      { name: 'sealed by CP-ABE: no turn', cell: { ...paper, protocol: 'BASA sealed (CP-ABE)' as const } },
      { name: 'sealed by slot keys', cell: sealed },
      { name: 'sealed by slot keys, one thread that opens', cell: { ...sealed, openers: 1 } },
      { name: 'sealed by slot keys, everybody may train', cell: { ...sealed, places: 'unlimited' as const } },
      { name: 'sealed by slot keys, equal trips', cell: { ...sealed, compute: { secondsATrip: 1 } } },
      ...sizes.map((bufferSize) => ({ name: `sealed, K = ${bufferSize}`, cell: { ...sealed, bufferSize } })),
    ];
  });
}

export const ablation: Study = {
  name: 'ablation',
  title: 'Ablation: the turn, deposits, the engine, the buffer',
  cells: NO_CELLS,
  needs: (profile) => needsOfCells(variantsOf(profile).map(({ cell }) => cell)),
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
          title: 'Seconds for each update that is in a sum; 32 users, FEMNIST CNN, declared devices',
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
            of('sealed by slot keys', beta),
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
          BETAS.map((beta) => [`beta ${beta}`, of('sealed by slot keys', beta), of('sealed by CP-ABE: no turn', beta)]),
        ),
      ],
      notes: [
        'Only timing is simulated; nothing is trained. Without a network, the width of the modulus changes bytes but not seconds: 32, 20 and 16 bits are 4.0, 2.5 and 2.0 bytes per parameter (npm run lab -- bench messages).',
      ],
    };
  },
};
