/** `basa simulate` with the models of the templates that the short tests only compile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'basa-templates-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['tfjs', 0.6],
  ['browser', 0.8],
])('trains the model of the template %s', async (template, least) => {
  const project = join(folder, template);
  expect((await basaHere(['new', project, '--template', template])).code).toBe(0);
  const small = ['--devices', '6', '--versions', '10', '--compute', '1', '--drop-out', '10', '--json'];
  const { out } = await basaHere(['simulate', join(project, 'model.ts'), '--out', join(folder, 'simulated'), ...small]);
  const { runs } = lastLine(out) as { runs: { last: { accuracy: number } }[] };
  expect(runs[0]?.last.accuracy).toBeGreaterThan(least);
});
