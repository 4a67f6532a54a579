import { describe, expect, it } from 'vitest';
import { wholeName } from '../src/flags/services.ts';

const KIND = { kind: 'task', listed: '`basa task ls`' };
const tasks = [
  { hex: `abcd1${'0'.repeat(59)}`, name: 'first' },
  { hex: `abcd2${'0'.repeat(59)}`, name: 'second' },
  { hex: `ef${'0'.repeat(62)}`, name: 'second' },
  { hex: `beef${'1'.repeat(60)}`, name: 'abcd1' },
];
const find = (text: string) => wholeName(text, KIND, async () => tasks);

describe('a name of 64 digits', () => {
  it('is used unchanged, without a request', async () => {
    const whole = '9'.repeat(64);
    const nobody = (): never => {
      throw new Error('asked');
    };
    expect(await wholeName(whole, KIND, nobody)).toBe(whole);
  });

  it('may be given as a label, or by unique first digits', async () => {
    expect(await find('first')).toBe(tasks[0]?.hex);
    expect(await find('abcd2')).toBe(tasks[1]?.hex);
    expect(await find('abcd1')).toBe(tasks[3]?.hex); // a name goes before digits
  });

  it.each([
    ['abcd', '"abcd" matches 2 tasks: abcd100000000000 (first), abcd200000000000 (second); give more digits'],
    ['second', '"second" matches 2 tasks'],
    ['abc', 'there is no task "abc"; give its name or at least its first 4 digits; `basa task ls` lists them'],
    ['', 'there is no task ""'],
    ['ABCD1', 'there is no task "ABCD1"'],
  ])('that %j does not settle is asked for again', async (text, sentence) => {
    await expect(find(text)).rejects.toThrow(sentence);
  });
});
