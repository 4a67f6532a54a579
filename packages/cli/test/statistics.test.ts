/** The fields of a statistics task, and its `basa plan` and `basa simulate`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { fieldDefinitions } from '../src/flags/task.ts';
import { windowRow } from '../src/tasks/statistics.ts';
import { taskCreate } from '../src/tasks/task-create.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-statistics-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fieldsFile(name: string, fields: object): readonly string[] {
  writeFileSync(join(folder, name), JSON.stringify(fields));
  return ['--statistics', join(folder, name)];
}

const FIELDS = fieldsFile('fields.json', {
  screenMs: { low: 0, high: 1000, step: 10 },
  country: { choices: ['at', 'de'] },
});
const plan = (...words: readonly string[]) => basaHere(['plan', ...FIELDS, ...words], {});

interface Planned {
  readonly epsilon?: number;
  readonly participations?: number;
  readonly sizes: readonly { readonly bufferSize: number; readonly level: number; readonly errors: object }[];
}

describe('--field', () => {
  it.each([
    ['a:number:0:10:0.5', { low: 0, high: 10, step: 0.5 }],
    ['a:number:-5:5:1', { low: -5, high: 5, step: 1 }],
    ['a:histogram:0,1e3,2000', { edges: [0, 1000, 2000] }],
    ['a:choices:at,de', { choices: ['at', 'de'] }],
  ])('reads %s', async (typed, a) => {
    expect(await fieldDefinitions({ statistics: undefined, field: [typed] })).toEqual({ a });
  });

  it('adds to the fields of a file', async () => {
    const [, statistics = ''] = fieldsFile('one.json', { a: { edges: [0, 1] } });
    const fields = await fieldDefinitions({ statistics, field: ['b:choices:x'] });
    expect(fields).toEqual({ a: { edges: [0, 1] }, b: { choices: ['x'] } });
    expect(await fieldDefinitions({ statistics: undefined, field: [] })).toBeUndefined();
  });

  it.each([
    'a',
    'a:number:1',
    'a:number:0:10:',
    'a:number:0:10:x',
    'a:number:0:10:1:1',
    'a:histogram:0,,1',
    'a:histogram:0:1',
    'a:choices:x:y',
    'a:mean:0:10:1',
  ])('refuses %s', async (typed) => {
    const { code, errors } = await basaHere(['plan', '--field', typed], {});
    expect([code, errors]).toEqual([2, expect.stringContaining(`name:choices:word,word,..., got "${typed}"`)]);
  });
});

it('task create has at most 30 flags', () => {
  expect(Object.keys(taskCreate.flags).length).toBeLessThanOrEqual(30);
});

describe('a window of basa task show', () => {
  const day = 86_400_000;
  const fields = [
    { kind: 'number', name: 'a', mean: 40, error: 1 },
    { kind: 'histogram', name: 'b', error: 5, buckets: [{ bucket: 'x', count: 3 }] },
  ] as const;
  const common = { window: 1, isOver: true, devices: 9, lost: 0, fields };

  it('has 95 % error bars', () => {
    expect(windowRow({ ...common, from: 0, to: 1000 })[3]).toBe('a 40 ± 1.96; b x 3 (± 9.8)');
  });

  it('shows its time, or its date if it lasts a day or longer', () => {
    expect(windowRow({ ...common, from: day, to: 2 * day - 1 })[0]).toBe('1970-01-02T00:00:00.000Z');
    expect(windowRow({ ...common, from: day, to: 2 * day })[0]).toBe('1970-01-02');
  });
});

describe('basa plan', () => {
  it('tells the errors by K, and epsilon over the planned windows', async () => {
    expect((await plan('--participations', '24')).out).toMatch(/K = 10 +K = 32 +K = 100 +K = 320 +K = 1000/);
    expect((await plan('--participations', '24')).out).toMatch(/^country ± +2\.77 /m);
    const { code, out } = await plan('--participations', '24', '--json');
    expect(code).toBe(0);
    const statistics = lastLine(out) as unknown as Planned;
    expect(statistics).toMatchObject({ participations: 24, epsilon: expect.closeTo(36.4, 1) });
    // Two fields, each as long as the other, and the noise of one authority: as long for every K.
    const D = 50 * Math.sqrt(2);
    for (const { bufferSize, level, errors } of statistics.sizes) {
      expect(level).toBe(1);
      expect(errors).toEqual({
        screenMs: expect.closeTo((10 * D) / bufferSize, 9),
        country: expect.closeTo(D / 50, 9),
      });
    }
  });

  it('has the noise of the devices with several authorities, and no noise in exact sums', async () => {
    const devices = lastLine((await plan('--authorities', '4', '--json')).out) as unknown as Planned;
    const [{ errors } = { errors: {} }] = devices.sizes;
    // K = 10, Kmin = 8 and one colluder: seven devices have enough noise, and ten add it.
    expect(errors).toMatchObject({ country: expect.closeTo(Math.sqrt((10 / 7) * 2), 6) });
    expect((await plan('--unsafe-exact')).out).toContain('Each device reports once in the life of the task');
    const exact = lastLine((await plan('--unsafe-exact', '--json')).out) as unknown as Planned;
    expect(exact.epsilon).toBeUndefined();
    expect(exact.sizes[0]?.errors).toEqual({ screenMs: 0, country: 0 });
  });

  it('leaves out a K that is not possible, and says which flags are of models', async () => {
    const fields = fieldsFile('wide.json', { a: { low: 0, high: 40_000_000, step: 1 } });
    const wide = await basaHere(['plan', ...fields, '--unsafe-exact'], {});
    expect([wide.code, wide.out]).toEqual([0, expect.not.stringContaining('K = 1000')]);
    const none = await basaHere(['plan', ...fieldsFile('none.json', { a: { edges: [1] } })], {});
    expect(none.code).toBe(1);
    expect(none.out).toContain('needs at least two edges');
    expect((await plan('--dimension', '5')).errors).toContain('--dimension and --model are for tasks with a model');
    expect((await plan('--no-noise')).errors).toContain('--unsafe-exact instead of --no-noise');
  });
});

function simulate(csv: string, ...words: readonly string[]) {
  const file = join(folder, 'values.csv');
  writeFileSync(file, csv);
  const few = ['--devices', '6', '--buffer', '4', '--versions', '2'];
  return basaHere(['simulate', ...FIELDS, '--csv', file, ...few, ...words], {});
}

describe('basa simulate', () => {
  // The sixth device has the first row again, and the second window begins with the second row.
  const values = 'note,country,screenMs\n"a, ""b""",at,100\n,de,200\n,"fr",300\r\n,at,400\n,de,2000\n';

  it('shows sums of the rows of a file, in turn, beside the true values', async () => {
    const { code, out, errors } = await simulate(values, '--unsafe-exact', '--json');
    expect(code).toBe(0);
    expect(errors).toContain('1 of 5 rows have a value out of range in screenMs');
    expect(lastLine(out)).toEqual({
      statistics: {
        ...{ devices: 6, windows: 2, bufferSize: 4, minimum: 4, level: 1, lost: 4 },
        values: [
          expect.objectContaining({ field: 'screenMs', bucket: '', error: 0 }),
          expect.objectContaining({ field: 'country', bucket: 'at', error: 0 }),
          expect.objectContaining({ field: 'country', bucket: 'de', error: 0 }),
          expect.objectContaining({ field: 'country', bucket: 'other', error: 0 }),
        ],
      },
    });
    const { statistics } = lastLine(out) as { statistics: { values: { value: number; truth: number }[] } };
    for (const { value, truth } of statistics.values.slice(1)) expect(value).toBe(truth);
  });

  it('tells the share of true values inside the error bars', async () => {
    const { code, out } = await simulate(values, '--json');
    expect(code).toBe(0);
    const { statistics } = lastLine(out) as { statistics: { coverage: number; values: { error: number }[] } };
    expect(statistics.coverage).toBeGreaterThan(0.5);
    expect(statistics.values.every(({ error }) => error > 0)).toBe(true);
  });

  it.each([
    ['screenMs\n1\n', 'it has no column country, only screenMs'],
    ['screenMs,country\n1,at\nmany,at\n', 'the column screenMs of row 2 is no number: "many"'],
    ['screenMs,country\n1\n', 'row 1 has 1 cells, and the first line names 2 columns'],
    ['screenMs,country\n"1,at\n', 'a quotation mark in row 1 is out of place'],
    ['screenMs,country\n', 'no row below the names'],
  ])('names what is wrong with a file: %j', async (csv, why) => {
    expect((await simulate(csv)).errors).toContain(why);
  });

  it('needs values, and one protocol that can sum them', async () => {
    expect((await basaHere(['simulate', ...FIELDS], {})).errors).toContain('add --csv <file>');
    expect((await simulate(values, '--protocol', 'all')).errors).toContain('one-shot or one-shot-3-of-4');
  });
});
