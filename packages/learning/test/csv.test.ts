/** Tables of a user. */
import { describe, expect, it } from 'vitest';
import { readCsv } from '../src/files.ts';

describe('CSV', () => {
  const options = { shape: { height: 1, width: 1, channels: 2 }, classes: 3 };

  it('that is right becomes a dataset, label first or last, with or without names', () => {
    const dataset = readCsv('label,a,b\n0,1.5,2\n2,-3,4\n', 'x', { ...options, header: true });
    expect([[...dataset.inputs], [...dataset.labels]]).toEqual([
      [1.5, 2, -3, 4],
      [0, 2],
    ]);
    const last = readCsv('255;51;1\n', 'x', { ...options, label: 'last', separator: ';', scale: 255 });
    expect([...last.inputs, ...last.labels]).toEqual([1, Math.fround(0.2), 1]);
  });

  it('without classes has numbers for labels, and names the column of a wrong one', () => {
    const numbers = { shape: options.shape, label: 'last', header: true } as const;
    const { labels, classes } = readCsv('area,rooms,price\n50,2,1.5\n70,3,-2\n', 'x', numbers);
    expect([labels, classes]).toEqual([Float32Array.of(1.5, -2), 1]);
    expect(() => readCsv('area,rooms,price\n50,2,cheap\n', 'x', numbers)).toThrow(
      'x: at line 2, column 3 (price): "cheap" is not a finite number; correct it, or remove the line',
    );
  });

  it.each([
    ['table: at line 2, column 3: "NaN" is not a finite number', '0,1,2\n1,3,NaN\n'],
    ['table: at line 1, column 2: "x" is not a finite number', '0,x,2\n'],
    ['table: at line 1, column 3: "" is not a finite number', '0,1,\n'],
    ['table: at line 1, column 2: "Infinity" is not', '0,Infinity,2\n'],
    ['table: at line 2, column 1: label 3 is not a class from 0 to 2', '0,1,2\n3,1,2\n'],
    ['table: at line 1, column 1: label 0.5', '0.5,1,2\n'],
    ['table: at line 3: 2 columns, not 2 and a label', '0,1,2\n1,1,2\n1,1'],
    ['table: at byte 0: no example at all', '\n'],
  ])('that is wrong is refused: %s', (problem, text) => {
    expect(() => readCsv(text, 'table', options)).toThrow(problem);
  });
});
