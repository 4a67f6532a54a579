/** The tables of the benchmark of the protocols, and its rows as JSON. */
import { formatTable } from '../table.ts';
import { AGREEMENT, CHECKED, type Check, isWithin } from './check.ts';
import { ONE_SHOTS } from './contenders.ts';
import type { Amounts, Cost } from './cost.ts';
import type { SealingPrices, VectorPrices } from './prices.ts';
import { PUBLISHED } from './published.ts';

export interface Row extends Cost {
  readonly protocol: string;
  readonly n: number;
  readonly d: number;
  readonly dropouts: number;
}

const COLUMNS = ['user ms', 'model hash ms', 'server ms', 'authority ms', 'user sends B', 'receives B'];

function cellsOf({
  userMs,
  modelHashMs,
  serverMs,
  authorityMs,
  bytesUp,
  bytesDown,
}: Amounts & Pick<Cost, 'modelHashMs'>): readonly string[] {
  return [
    userMs.toFixed(1),
    modelHashMs?.toFixed(1) ?? '',
    serverMs.toFixed(1),
    authorityMs === 0 ? '' : authorityMs.toFixed(1),
    Math.round(bytesUp).toLocaleString('en'),
    Math.round(bytesDown).toLocaleString('en'),
  ];
}

export function textOf(
  rows: readonly Row[],
  cpAbe: SealingPrices,
  check: readonly Check[],
  prices: ReadonlyMap<number, VectorPrices>,
): string {
  const largest = Math.max(...rows.map(({ d }) => d));
  const most = Math.max(...rows.map(({ dropouts }) => dropouts));
  const detailed = rows.filter(({ d, dropouts }) => d === largest && (dropouts === 0 || dropouts === most));
  const settingOf = ({ protocol, n, d, dropouts }: Row): readonly string[] => [
    protocol,
    `${n}`,
    d.toLocaleString('en'),
    `${100 * dropouts} %`,
  ];
  return [
    aboutOf(cpAbe),
    '',
    formatTable(
      ['protocol', 'n', 'd', 'drop-outs', ...COLUMNS],
      rows.map((row) => [...settingOf(row), ...cellsOf(row)]),
    ),
    '',
    maskingText(rows, prices),
    '',
    councilText(rows),
    '',
    `By phase, at d = ${largest.toLocaleString('en')}; the medians of users by phase need not add up to those above:`,
    formatTable(
      ['protocol', 'phase', 'n', 'drop-outs', ...COLUMNS],
      detailed.flatMap((row) =>
        row.phases.map((phase) => [
          row.protocol,
          phase.phase,
          `${row.n}`,
          `${100 * row.dropouts} %`,
          ...cellsOf(phase),
        ]),
      ),
      2,
    ),
    '',
    checkText(check),
    '',
    'Published by others, on their machines; do not read as measured here:',
    formatTable(['source', 'setting', 'figure', 'standing'], PUBLISHED, 4),
  ].join('\n');
}

function aboutOf({ seals, opens, issues }: SealingPrices): string {
  return [
    'Processor time of one sum of n users, in one process. Drop-outs happen before the upload, at the most expensive moment.',
    'The user columns are medians over the users in the sum. For BASA, n is the buffer size.',
    'SecAgg, SecAgg+ and BASA run completely with 64 elements, and that sum is checked. For the real dimension, mask',
    'expansions and hashes of vectors are counted, and each is charged at its cost at that dimension, measured in this run.',
    'The hashes and checksums of a BASA device are those of the SDK. The hash of the model that it downloads has a column of its own.',
    'Quantising is the same for all protocols and is left out. Everything else is measured directly, except CP-ABE: the calls',
    'of a sealing of real size are counted, and each is charged at its cost in a warm process:',
    `  seal ${seals.toFixed(2)}, open ${opens.toFixed(2)}, key ${issues.toFixed(2)} ms.`,
    'LightSecAgg runs with one user and the server at the real dimension. A row is missing if the protocol cannot open a sum',
    'with this number of drop-outs. Keys are agreed again for each sum, with X25519.',
  ].join('\n');
}

/** The minimum cost of any protocol that masks, compared with the total cost of a user. */
function maskingText(rows: readonly Row[], prices: ReadonlyMap<number, VectorPrices>): string {
  const [{ name }] = ONE_SHOTS;
  const alone = rows.filter(({ protocol, dropouts }) => protocol === name && dropouts === 0);
  const secAggOf = (row: Row): Row | undefined =>
    rows.find(({ protocol, n, d, dropouts }) => protocol === 'SecAgg' && n === row.n && d === row.d && dropouts === 0);
  return [
    `A user of ${name} without drop-outs, compared with only its masking (one expansion and the packing) and with SecAgg's user:`,
    formatTable(
      ['n', 'd', 'user ms', 'masking ms', 'user / masking', 'user / SecAgg'],
      alone.map((row) => {
        const { expansionMs = Number.NaN, packMs = Number.NaN } = prices.get(row.d) ?? {};
        const maskingMs = expansionMs + packMs;
        return [
          `${row.n}`,
          row.d.toLocaleString('en'),
          row.userMs.toFixed(1),
          maskingMs.toFixed(1),
          (row.userMs / maskingMs).toFixed(2),
          (row.userMs / (secAggOf(row)?.userMs ?? Number.NaN)).toFixed(2),
        ];
      }),
    ),
  ].join('\n');
}

/** The cost of several authorities compared with the cost of one. */
function councilText(rows: readonly Row[]): string {
  const [alone, several] = ONE_SHOTS.map(({ name }) => name);
  const beside = rows.flatMap((row): readonly (readonly string[])[] => {
    const one = rows.find(
      ({ protocol, n, d, dropouts }) => protocol === alone && n === row.n && d === row.d && dropouts === row.dropouts,
    );
    if (one === undefined || row.dropouts !== 0 || row.protocol !== several) return [];
    const more = row.bytesUp + row.bytesDown - one.bytesUp - one.bytesDown;
    return [
      [
        `${row.n}`,
        row.d.toLocaleString('en'),
        (row.userMs / one.userMs).toFixed(2),
        (row.serverMs / one.serverMs).toFixed(2),
        Math.round(more).toLocaleString('en'),
      ],
    ];
  });
  return [
    'Four authorities, of which three decide, compared with one, without drop-outs. The authorities run in this process, and their time is measured separately:',
    formatTable(['n', 'd', 'user / user of one', 'server / server of one', 'more bytes a user'], beside),
  ].join('\n');
}

function checkText(check: readonly Check[]): string {
  const { users, dropouts, dimension } = CHECKED;
  const cell = (ratio: number | undefined): string => (ratio === undefined ? '' : ratio.toFixed(2));
  const outside = check.filter(({ user, server, authority }) => ![user, server, authority].every(isWithin));
  const size = `n = ${users}, d = ${dimension.toLocaleString('en')}, ${100 * dropouts} % drop-outs`;
  return [
    `Check: ${size}, really run and with the same bytes; composed time / run time, to lie within a factor of ${AGREEMENT}:`,
    formatTable(
      ['protocol', 'user', 'server', 'authority'],
      check.map(({ protocol, user, server, authority }) => [protocol, cell(user), cell(server), cell(authority)]),
    ),
    outside.length === 0 ? 'All within.' : `OUTSIDE: ${outside.map(({ protocol }) => protocol).join(', ')}.`,
  ].join('\n');
}

export function jsonOf({ phases, ...row }: Row): object {
  return { ...roundedTimes(row), phases: phases.map(roundedTimes) };
}

function roundedTimes<Timed extends Amounts & Pick<Cost, 'modelHashMs'>>({
  authorityMs,
  modelHashMs,
  ...timed
}: Timed): object {
  const round = (ms: number): number => Math.round(100 * ms) / 100;
  return {
    ...timed,
    userMs: round(timed.userMs),
    ...(modelHashMs === undefined ? {} : { modelHashMs: round(modelHashMs) }),
    serverMs: round(timed.serverMs),
    ...(authorityMs === 0 ? {} : { authorityMs: round(authorityMs) }),
  };
}
