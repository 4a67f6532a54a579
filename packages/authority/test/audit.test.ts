/** The audit file after a crash. That final batches survive a power cut is shown by `npm run lab -- trial powercut`. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import { Audit } from '../src/steps/audit.ts';

const AT = Date.UTC(2026, 0, 1);
const user = new Uint8Array(32).fill(7) as UserId;

it('has whole lines after one that a crash cut off, and is for its owner only', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'basa-audit-')), 'audit.jsonl');
  await new Audit(path, () => AT).write({ kind: 'revoked', user });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const whole = readFileSync(path, 'utf8');
  expect(JSON.parse(whole)).toEqual({ at: '2026-01-01T00:00:00.000Z', kind: 'revoked', user: '07'.repeat(32) });
  writeFileSync(path, whole + whole.slice(0, 20));
  await new Audit(path, () => AT).write({ kind: 'revoked', user });
  expect(readFileSync(path, 'utf8').split('\n')).toEqual([whole.trim(), whole.slice(0, 20), whole.trim(), '']);
});
