import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { describe, expect, it } from 'vitest';

const plan = (...args: readonly string[]) => basaHere(['plan', ...args], {});

describe('basa plan', () => {
  it('says epsilon, bits and bytes of a task before there is one', async () => {
    const asked = [
      '--dimension',
      '7850',
      '--buffer',
      '100',
      '--noise',
      '1',
      '--delta',
      '1e-6',
      '--participations',
      '1',
    ];
    const { code, out } = await plan(...asked, '--json');
    expect(code).toBe(0);
    expect(lastLine(out)).toMatchObject({
      epsilon: expect.closeTo(5.5, 1),
      delta: 1e-6,
      bits: 16,
      bytesPerUpload: 2 * 7859 + 64,
      advice: [],
    });
  });

  it('gives a large model less noise, and warns of more', async () => {
    const asked = ['--dimension', '1000000', '--buffer', '100', '--json'];
    expect(lastLine((await plan(...asked)).out)).toMatchObject({ noise: { noiseMultiplier: 0.1 } });
    const { advice } = lastLine((await plan(...asked, '--noise', '0.3')).out) as { advice: readonly string[] };
    expect(advice).toEqual([expect.stringContaining('3.0 times as long as an update')]);
  });

  it('warns of noise that hides too little', async () => {
    const { advice } = lastLine((await plan('--dimension', '4000000', '--noise', '0.01', '--json')).out) as {
      advice: readonly string[];
    };
    expect(advice).toEqual([expect.stringContaining('a --buffer of at least 100')]);
  });

  it('shows the cost of an upload, which has a seed for each part', async () => {
    const asked = ['--dimension', '7850', '--noise', '1', '--participations', '1'];
    const small = lastLine((await plan(...asked, '--buffer', '100', '--json')).out);
    expect(small).toMatchObject({ upload: { masks: 1, sealedBytes: 64, bytesPerUpload: 2 * 7859 + 64 } });
    const { code, out } = await plan(...asked, '--buffer', '10000', '--authorities', '4', '--json');
    expect(code).toBe(0);
    const told = lastLine(out) as { bytesPerUpload: number; upload: object };
    expect(told.upload).toMatchObject({ masks: 4, tolerated: 1, sealedBytes: 4 * (32 + 3 * 32) });
    expect(told.upload).toMatchObject({ bytesPerUpload: told.bytesPerUpload });
  });

  it('shows the cost of the seeds with each sealing, in bytes and milliseconds', async () => {
    const asked = ['--dimension', '7850', '--noise', '1', '--participations', '1'];
    const hybrid = [...asked, '--sealing', 'x25519+mlkem768', '--authorities', '4'];
    const { out } = await plan(...hybrid, '--json');
    const measured = { sealMs: expect.any(Number), openMs: expect.any(Number) };
    expect(lastLine(out)).toMatchObject({
      sealing: 'x25519+mlkem768',
      upload: { sealedBytes: 4 * (32 + 3 * 1120) },
      sealings: {
        x25519: { sealedBytes: 4 * (32 + 3 * 32), ...measured },
        'x25519+mlkem768': { sealedBytes: 4 * (32 + 3 * 1120), ...measured },
      },
    });
    const told = (await plan(...hybrid)).out;
    expect(told).toMatch(/x25519\+mlkem768 +13568 bytes +[\d.]+ ms to encrypt +[\d.]+ ms for an authority to decrypt/);
  });

  it('refuses two authorities with a sentence', async () => {
    const { code, errors } = await plan('--dimension', '10', '--authorities', '2');
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining('2 of 2 authorities, of which 0 may collude, are not possible'),
    ]);
  });

  it('warns of a minimum of more than half of the devices', async () => {
    const { errors } = await plan('--dimension', '10', '--buffer', '10', '--devices', '12');
    expect(errors).toContain('every batch needs 8 of 12 devices');
    expect((await plan('--dimension', '10', '--buffer', '10', '--devices', '16')).errors).toBe('');
  });

  it('without a word about noise compares the costs of buffer sizes', async () => {
    const { code, out } = await plan('--dimension', '7850', '--buffer', '40');
    expect(code).toBe(0);
    expect(out).toMatch(/^K +bits of an entry +masks +upload bytes$/m);
    expect(out).toMatch(/^40 +24 +1 +23\d{3}$/m);
    expect(out).toMatch(/^10000 +32 +1 +31\d{3}$/m);
    expect(out).toContain('blur (noise 0.4, added by the authority): hides single examples from most attacks');
    expect((await plan('--dimension', '10', '--no-noise')).out).toContain('no noise: a server that chooses the model');
    const { out: large } = await plan('--dimension', '7850', '--authorities', '4');
    expect(large).toContain('private (noise 1, added by the devices): epsilon 108.22 at delta 0.000001');
    const { sizes } = lastLine((await plan('--dimension', '7850', '--json')).out) as { sizes: object[] };
    expect(sizes[0]).toMatchObject({ bufferSize: 10, bits: 20, masks: 1 });
  });

  it('refuses an impossible plan, and suggests a possible one', async () => {
    const few = ['--minimum', '5', '--colluders', '4', '--noise', '1', '--participations', '1', '--json'];
    const { code, out } = await plan('--model', 'mnist', '--buffer', '10', ...few);
    expect(code).toBe(1);
    expect(lastLine(out)).toMatchObject({ refused: expect.stringContaining('allow at most 3') });
  });

  it.each([
    [['--noise', '1', '--participations', '1'], '--dimension'],
    [['--dimension', '10', '--noise', '0.5', '--delta', '1e-5'], '--participations'],
    [['--dimension', '10', '--no-noise', '--noise', '1'], '--no-noise excludes --noise'],
    [['--dimension', '10', '--noise', '1', '--participations', '1', '--delta', '2'], '--delta'],
    [['--dimension', '10', '--noise', '-1', '--participations', '1'], '--noise takes a positive number, got "-1"'],
  ])('names the flag that is wrong in %s', async (args, flag) => {
    const { code, errors } = await plan(...args);
    expect([code, errors.includes(flag)]).toEqual([2, true]);
  });
});
