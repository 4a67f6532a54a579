import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa, start } from '@basa/testkit/programs/basa-process.ts';
import { describe, expect, it } from 'vitest';

// Four of nine make a sum. Two drop-outs in one buffer would hold it up until their leases are over.
const SMALL = ['--devices', '9', '--buffer', '5', '--drop', '4'];

describe('the demo', () => {
  it('trains with sealed updates as well as without security, and shows the cost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-demo-test-'));
    const run = ['demo', ...SMALL, '--target', '99', '--buffers', '2', '--json', '--folder', folder];
    const { code, out, errors } = await basa(run);
    expect(errors).toContain('Did not reach 99.0 %');
    expect(code).toBe(1); // nobody reaches 99 % in two buffers
    const result = lastLine(out) as Readonly<Record<string, number>>;
    // A second buffer that was full when the last one ended ends too.
    expect([2, 3]).toContain(result['buffers']);
    expect(result['accepted']).toBeGreaterThanOrEqual(2 * 4);
    expect(result['accuracy']).toBeGreaterThan(0.3);
    expect(Math.abs((result['accuracy'] ?? 0) - (result['plainAccuracy'] ?? 1))).toBeLessThan(0.005);
    // 7,850 masked entries of 20 bits, five sealed seeds with commitments, and a little more.
    expect(result['bytesPerContribution']).toBeGreaterThan(2.5 * 7850);
    expect(result['bytesPerContribution']).toBeLessThan(2.5 * 7850 + 10_000);
    expect(result['msPerContribution']).toBeGreaterThan(0);
    // 2 K - 1 seeds of each engine; what they take is this machine's.
    expect(lastLine(out)).toMatchObject({
      engine: 'cp-abe',
      engines: { 'cp-abe': { sealedBytes: 9 * 240 }, 'slot-keys': { sealedBytes: 9 * 64 } },
    });
    expect(errors).toContain(
      'This run used sealed mode with CP-ABE. To try slot keys: npm start -- --engine slot-keys',
    );
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['authority', 'server', 'devices', 'server.log']));
  });

  it('in the one-shot mode sends one sealed seed, and learns as well as without security', async () => {
    const run = ['demo', ...SMALL, '--mode', 'one-shot', '--target', '99', '--buffers', '2', '--json'];
    const { code, out, errors } = await basa(run);
    expect(errors).toContain('Enrolling 9 devices: one-shot mode, K = 5.');
    expect(errors).toContain('This run used one-shot mode');
    expect(code).toBe(1);
    const result = lastLine(out) as Readonly<Record<string, number>>;
    expect([2, 3]).toContain(result['buffers']);
    expect(Math.abs((result['accuracy'] ?? 0) - (result['plainAccuracy'] ?? 1))).toBeLessThan(0.005);
    // 7,850 masked entries of 20 bits, one sealed seed, and the answer of the server.
    expect(result['bytesPerContribution']).toBeLessThan(2.5 * 7850 + 500);
    expect(lastLine(out)).toMatchObject({
      mode: 'one-shot',
      steps: { seat: { ms: 0 }, deposit: { ms: 0 }, key: { ms: 0 }, mask: { sent: 0 } },
      engines: { 'cp-abe': { requests: 7 }, 'one-shot': { sealedBytes: 64, requests: 3 } },
    });
  });

  it('has no engine to choose in the one-shot mode', async () => {
    const { code, errors } = await basaHere(['demo', '--mode', 'one-shot', '--engine', 'cp-abe']);
    expect([code, errors]).toEqual([2, expect.stringContaining('--engine is only for sealed mode')]);
  });

  it('does not count an earlier run in a folder that was used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-demo-test-'));
    writeFileSync(join(folder, 'secrets.json'), '{}');
    const { code, errors } = await basaHere(['demo', '--folder', folder]);
    expect([code, errors]).toEqual([2, expect.stringContaining('Choose another path with --folder, or remove it')]);
  });

  it('stopped by Ctrl-C stops its services and takes its folder away', async () => {
    const demo = start(['demo', ...SMALL, '--engine', 'slot-keys']);
    const said = await demo.said('Starting the authority and the server in ');
    const [, folder = ''] = /server in (\S+) \.\.\./.exec(said) ?? [];
    await demo.said('Enrolling 9 devices: sealed mode, slot keys, K = 5.');
    expect(existsSync(join(folder, 'server'))).toBe(true);
    demo.child.kill('SIGINT');
    const { code, errors } = await demo.ended;
    expect(errors).toContain('interrupted');
    expect(code).toBe(130);
    expect(existsSync(folder)).toBe(false);
  });
});
