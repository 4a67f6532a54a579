import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa, start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf } from '@basa/testkit/programs/typed.ts';
import { describe, expect, it } from 'vitest';

// Four of nine make a sum. Two drop-outs in one batch would hold it up until their places are over.
const SMALL = ['--devices', '9', '--buffer', '5', '--drop', '4'];
type Result = Readonly<Record<string, number>>;
interface Told {
  readonly devices: number;
  readonly windows: number;
  readonly fields: readonly string[];
  readonly coverage: number;
}

describe('the demo', () => {
  it("trains with the paper's protocol and with one-shot as well as without security, and compares them", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-demo-test-'));
    const run = ['demo', ...SMALL, '--target', '99', '--buffers', '2', '--json', '--folder', folder];
    const { code, out, errors } = await basa(run);
    expect(errors.match(/Did not reach 99\.0 %/g)).toHaveLength(2);
    expect(code).toBe(1); // nobody reaches 99 % in two buffers
    const { paper = {}, oneShot = {} } = lastLine(out) as Record<string, Result>;
    for (const result of [paper, oneShot]) {
      // A second buffer that was full when the last one ended ends too.
      expect([2, 3]).toContain(result['buffers']);
      expect(result['accuracy']).toBeGreaterThan(0.3);
      // Only the one-shot task has noise, which two versions do not average away.
      const most = result === paper ? 0.005 : 0.1;
      expect(Math.abs((result['accuracy'] ?? 0) - (result['plainAccuracy'] ?? 1))).toBeLessThan(most);
      expect(result['msPerContribution']).toBeGreaterThan(0);
      expect(result['seconds']).toBeGreaterThan(0);
    }
    // 7,850 masked entries of 20 bits. In the paper's protocol four seeds on average, half of them sealed by this device.
    expect(paper['bytesPerContribution']).toBeGreaterThan(2.5 * 7850 + 4 * 240);
    // One sealed seed, and the answer of the server.
    expect(oneShot['bytesPerContribution']).toBeLessThan(2.5 * 7850 + 500);
    expect(errors).toContain('UNSAFE, only for comparison');
    expect(errors).toMatch(/^ +paper \(unsafe\) +one-shot$/m);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['authority', 'server', 'devices', 'server.log']));
    expect(readdirSync(join(folder, 'devices'))).toEqual(['one-shot', 'paper']);
  });

  it('of statistics ends with results of three windows, whose error bars contain the true values', async () => {
    const { code, out, errors } = await basa(['demo', '--statistics', '--devices', '8', '--json']);
    expect(code).toBe(0);
    const { statistics } = lastLine(out) as { readonly statistics: Told };
    expect(statistics).toMatchObject({ devices: 8, fields: ['battery', 'latencyMs', 'network'] });
    expect(statistics.windows).toBeGreaterThanOrEqual(3);
    // Thirty values or more, of which one in twenty lies outside.
    expect(statistics.coverage).toBeGreaterThan(0.7);
    expect(errors.match(/^window \d+: \d devices; battery .* ± /gm)?.length).toBeGreaterThanOrEqual(3);
    expect(errors).toMatch(/^battery: mean of the devices in each window$/m);
    expect(errors).toMatch(/^wifi +-?[\d.]+ +± [\d.]+ +\d\.0.* [█▒·]{32}$/m);
  });

  it('of statistics goes on in `basa dev`, which says how to take part and shows results', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-demo-test-'));
    const ports = ['--server-port', '0', '--authority-port', '0'];
    const dev = start(['dev', '--statistics', '--devices', '4', '--folder', folder, ...ports]);
    const said = await dev.said('Ctrl-C stops everything');
    expect(said).toContain('4 devices report every 10 s. A window needs 3 reports');
    expect(said).not.toContain('Join from a browser tab');
    const values = join(folder, 'values.json');
    writeFileSync(values, /with (\{.*\}) in the file/.exec(said)?.[1] ?? '');
    const environment = exportsOf(said);
    const report = ['client', '--identity', join(folder, 'mine'), '--report', values];
    expect((await basa(report, environment)).out).toContain('accepted');
    const shown = async () => (await basa(['task', 'show'], environment)).out;
    await expect.poll(shown, { timeout: 600_000, interval: 1000 }).toMatch(/battery -?[\d.]+ ± /);
    dev.child.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
  });

  it('does not count an earlier run in a folder that was used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-demo-test-'));
    writeFileSync(join(folder, 'secrets.json'), '{}');
    const { code, errors } = await basaHere(['demo', '--folder', folder]);
    expect([code, errors]).toEqual([2, expect.stringContaining('Choose another path with --folder, or remove it')]);
  });

  it('stopped by Ctrl-C stops its services and takes its folder away', async () => {
    const demo = start(['demo', ...SMALL, '--mode', 'one-shot']);
    const said = await demo.said('Starting the authority and the server in ');
    const [, folder = ''] = /server in (\S+) \.\.\./.exec(said) ?? [];
    await demo.said('Enrolling 9 devices, K = 5.');
    expect(existsSync(join(folder, 'server'))).toBe(true);
    demo.child.kill('SIGINT');
    const { code, errors } = await demo.ended;
    expect(errors).toContain('interrupted');
    expect(code).toBe(130);
    expect(existsSync(folder)).toBe(false);
  });
});
