/** The secrets of a device are overwritten when they are used up: the seeds of its masks, and x' if it was not masked. */
import { SEED_BYTES } from '@basa/masking';
import { expect, it } from 'vitest';
import { connect } from '../src/connect.ts';
import { nodeOutside, type Outside } from '../src/node/index.ts';
import { deltaOf, memoryStore, optionsFor } from './support/connect.ts';
import { accepted, startServices } from './support/setup.ts';

const isWiped = (words: Uint8Array | Uint32Array): boolean => words.every((word) => word === 0);

/** A contribution, with all that it drew and masked; `mask` takes the place of the real one. */
async function watched(mask?: Outside['mask']) {
  const services = await startServices();
  const [drawn, masked, terms]: [Uint8Array[], Uint32Array[], { reveal(): Uint8Array }[]] = [[], [], []];
  const outside = nodeOutside();
  const client = await connect(
    {
      ...outside,
      randomBytes(length) {
        const bytes = outside.randomBytes(length);
        if (length === SEED_BYTES) drawn.push(bytes);
        return bytes;
      },
      async mask(vector, plan, signal) {
        masked.push(vector);
        terms.push(...plan.terms.map(({ seed }) => seed));
        expect(plan.terms.every(({ seed }) => !isWiped(seed.reveal()))).toBe(true);
        expect(isWiped(vector)).toBe(false);
        await (mask ?? outside.mask)(vector, plan, signal);
      },
    },
    memoryStore(),
    optionsFor(services),
  );
  const { version } = await client.model();
  drawn.length = 0;
  const given = client.contribute(deltaOf(1), { trainedOn: version }).finally(() => client.close());
  return { given, drawn, masked, terms };
}

it('an upload leaves no seed behind', async () => {
  const { given, drawn, terms } = await watched();
  accepted(await given);
  expect(drawn.length).toBeGreaterThan(0);
  expect(drawn.filter((bytes) => !isWiped(bytes))).toEqual([]);
  for (const seed of terms) expect(() => seed.reveal()).toThrow('wiped');
});

it("masking that is aborted leaves neither x' nor a seed behind", async () => {
  const { given, drawn, masked, terms } = await watched(() => Promise.reject(new Error('aborted')));
  await expect(given).rejects.toThrow('aborted');
  expect(masked.map(isWiped)).toEqual([true]);
  expect(drawn.filter((bytes) => !isWiped(bytes))).toEqual([]);
  expect(terms.length).toBeGreaterThan(0);
  for (const seed of terms) expect(() => seed.reveal()).toThrow('wiped');
});
