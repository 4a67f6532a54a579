import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { describe, expect, it } from 'vitest';

/** 7,850 entries and the metric `clipped`, of 16 bits each, and a seed. */
const UPLOAD_BYTES = 2 * 7860 + 64;

const plan = (...args: readonly string[]) => basaHere(['plan', ...args], {});
const planned = async (...args: readonly string[]) =>
  lastLine((await plan(...args, '--json')).out) as { advice: readonly string[]; sizes: readonly object[] };

describe('basa plan', () => {
  it('says epsilon, bits and bytes of a task before there is one', async () => {
    const asked = ['--dimension', '7850', '--buffer', '100', '--noise', '1', '--participations', '1'];
    expect(await planned(...asked)).toMatchObject({
      epsilon: expect.closeTo(5.5, 1),
      delta: 1e-6,
      bits: 16,
      bytesPerUpload: UPLOAD_BYTES,
      advice: [],
    });
  });

  it('gives a large model less noise, and warns of more', async () => {
    const asked = ['--dimension', '1000000', '--buffer', '100'];
    expect(await planned(...asked)).toMatchObject({ noiseMultiplier: 0.1 });
    const { advice } = await planned(...asked, '--noise', '0.3');
    expect(advice).toEqual([expect.stringContaining('3.0 times as long as an update')]);
  });

  it('warns of noise that hides too little', async () => {
    const { advice } = await planned('--dimension', '4000000', '--noise', '0.01');
    expect(advice).toEqual([expect.stringContaining('a --buffer of at least 100')]);
  });

  it('shows the cost of an upload, which has a seed for each part', async () => {
    const asked = ['--dimension', '7850', '--noise', '1', '--participations', '1'];
    expect(await planned(...asked)).toMatchObject({ masks: 1, sealedBytes: 64, bytesPerUpload: UPLOAD_BYTES });
    const several = ['--authorities', '4', '--sealing', 'x25519+mlkem768'];
    expect(await planned(...asked, '--buffer', '10000', ...several)).toMatchObject({
      masks: 4,
      tolerated: 1,
      sealedBytes: 4 * (32 + 3 * 1120),
    });
  });

  it('refuses two authorities with a sentence', async () => {
    const { code, out } = await plan('--dimension', '10', '--authorities', '2');
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('2 of 2 authorities, of which 0 may collude, are not possible'),
    ]);
  });

  it('warns of a minimum of more than half of the devices', async () => {
    const { errors } = await plan('--dimension', '10', '--buffer', '10', '--devices', '12');
    expect(errors).toContain('every batch needs 8 of 12 devices');
    expect((await plan('--dimension', '10', '--buffer', '10', '--devices', '16')).errors).toBe('');
  });

  it('compares buffer sizes, each with its default noise', async () => {
    const { code, out } = await plan('--dimension', '7850', '--buffer', '40');
    expect(code).toBe(0);
    expect(out).toMatch(/^ +K = 10 +K = 32 +K = 40 +K = 100 +K = 320 +K = 1000 +K = 10000$/m);
    expect(out).toMatch(/^noise multiplier +0\.1 +0\.32 +0\.4 +1 +1 +1 +1$/m);
    expect(out).toMatch(/^masks to expand( +1){7}$/m);
    expect(out).toContain('blur (noise 0.4, added by the authority): hides single examples from most attacks');
    expect((await plan('--dimension', '10', '--no-noise')).out).toContain('no noise: a server that chooses the model');
    const { out: large } = await plan('--dimension', '7850', '--authorities', '4');
    expect(large).toContain('private (noise 1, added by the devices): epsilon 108.22 at delta 0.000001');
    const { sizes } = await planned('--dimension', '7850', '--no-noise');
    expect(sizes[0]).toMatchObject({ bufferSize: 10, bits: 20, masks: 1 });
  });

  it('refuses an impossible plan, and says why', async () => {
    const few = ['--minimum', '12', '--noise', '1', '--participations', '1', '--json'];
    const { code, out } = await plan('--model', 'mnist', '--buffer', '10', ...few);
    expect(code).toBe(1);
    expect(lastLine(out)).toMatchObject({ refused: expect.stringContaining('cannot be used') });
  });

  it.each([
    [['--noise', '1', '--participations', '1'], '--dimension'],
    [['--dimension', '10', '--no-noise', '--noise', '1'], '--no-noise excludes --noise'],
    [['--dimension', '10', '--unsafe-exact'], '--unsafe-exact needs --statistics'],
    [['--dimension', '10', '--noise', '-1', '--participations', '1'], '--noise takes a positive number, got "-1"'],
  ])('names the flag that is wrong in %s', async (args, flag) => {
    const { code, errors } = await plan(...args);
    expect([code, errors.includes(flag)]).toEqual([2, true]);
  });
});
