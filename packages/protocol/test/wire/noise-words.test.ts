/** The noise of a task, as commands, pages and clients say it. */
import { noiseWords } from '@basa/protocol/internal/wire/privacy.ts';
import { expect, it } from 'vitest';

const blur = { noiseMultiplier: 0.1, colluders: 1, budget: undefined };
const spent = { delta: 1e-6, participations: 4 };

it.each([
  [undefined, false, ['none', 0, 'nobody'], 'no noise: a server that chooses the model can read single examples'],
  [blur, true, ['blur', 0.1, 'authority'], 'blur (noise 0.1, added by the authority): hides single examples from most'],
  [blur, false, ['blur', 0.1, 'devices'], 'but not one-bit questions to all devices'],
  [{ ...blur, noiseMultiplier: 0.04 }, true, ['blur', 0.04, 'authority'], 'too little to hide single examples'],
  [
    { noiseMultiplier: 1, colluders: 1, budget: { ...spent, participations: 100 } },
    false,
    ['private', 1, 'devices'],
    'a weak guarantee',
  ],
  [
    { noiseMultiplier: 1, colluders: 1, budget: spent },
    false,
    ['private', 1, 'devices'],
    'private (noise 1, added by the devices): epsilon 11.69 at delta 0.000001 for a device in 4 sums',
  ],
])('%o, added by the authority: %s', (privacy, authorityNoise, [kind, noiseMultiplier, by], words) => {
  const told = noiseWords({ privacy, metrics: [], oneShot: { authorityNoise } });
  expect(told).toMatchObject({ kind, noiseMultiplier, by, sentence: expect.stringContaining(words) });
});

it('without noise, statistics reveal something else than models', () => {
  const { sentence } = noiseWords({ privacy: undefined, metrics: [], oneShot: undefined, statistics: {} });
  expect(sentence).toBe('no noise: exact sums of changing groups can reveal single values');
});
