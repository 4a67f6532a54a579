import { describe, expect, it } from 'vitest';
import { opened } from '../../src/index.ts';

describe('what was opened', () => {
  it('is given back in the reverse order, each once, even where one of them throws', async () => {
    const given: string[] = [];
    const thing = await opened(async (onClose) => {
      onClose(() => given.push('first'));
      onClose(() => {
        given.push('second');
        throw new Error('on purpose');
      });
      onClose(() => given.push('third'));
      return { name: 'thing' };
    });
    await expect(thing.close()).rejects.toThrow('on purpose');
    await thing.close();
    expect(given).toEqual(['third', 'second', 'first']);
  });

  it('and fails half-way gives back what it had', async () => {
    const given: string[] = [];
    const failing = opened(async (onClose) => {
      onClose(() => given.push('first'));
      throw new Error('no second');
    });
    await expect(failing).rejects.toThrow('no second');
    expect(given).toEqual(['first']);
  });
});
