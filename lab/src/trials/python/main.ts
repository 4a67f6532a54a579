/** `npm run lab -- trial python [--json]`: the client in examples/python against the vectors, beside Node devices, and before the kit. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { runLab } from '../../commands/lab.ts';
import { learnTogether } from './learn-together.ts';
import { stopsAtItsBudget } from './private-budget.ts';
import { renewsItsCertificate } from './renewal.ts';

const folder = join(ROOT, 'examples/python');
// Wherever it is started: `python3 -m basa` is the one in the examples.
process.env['PYTHONPATH'] = folder;

const found = spawnSync('python3', ['-c', 'import cryptography; print(cryptography.__version__)'], {
  encoding: 'utf8',
});
if (found.status !== 0) {
  const missing = found.error === undefined ? 'its package cryptography' : 'python3';
  throw new MissingError(`${missing} is not there; on Debian \`apt install python3-cryptography\` brings both`);
}
console.log(`python3 with cryptography ${found.stdout.trim()}`);
const ended = await runAll();
if (process.argv.includes('--json')) console.log(JSON.stringify({ python: ended }));
process.exitCode = ended.isGood ? 0 : 1;

interface Ended {
  /** How far it came, where it went wrong. */
  readonly failed?: string;
  readonly isGood: boolean;
  readonly learned: readonly { readonly engine: string; readonly authorities: number; readonly accuracy: number }[];
  /** Scenes of the conformance kit. */
  readonly held: number;
}

async function runAll(): Promise<Ended> {
  const learned: { engine: string; authorities: number; accuracy: number }[] = [];
  const failed = (what: string): Ended => ({ failed: what, isGood: false, learned, held: 0 });
  const { status } = spawnSync('python3', ['-m', 'basa.selfcheck'], { stdio: 'inherit' });
  if (status !== 0) return failed('vectors');
  const isRenewed = await renewsItsCertificate();
  console.log(`a certificate that comes to its end ${isRenewed ? 'is renewed' : 'is not renewed'}`);
  if (!isRenewed) return failed('certificate');
  const isStopped = await stopsAtItsBudget();
  console.log(`a privacy budget of one sum ${isStopped ? 'stops the second' : 'stops nothing'}`);
  if (!isStopped) return failed('privacy budget');
  for (const [engine, authorities] of [
    ['slot-keys', 1],
    ['slot-keys', 4],
    ['cp-abe', 1],
    ['one-shot', 1],
    ['one-shot', 4],
  ] as const) {
    const { accuracy, loss } = await learnTogether(engine, authorities);
    const what = `${engine}${authorities > 1 ? ` of ${authorities} authorities` : ''}`;
    console.log(
      `with two Node devices in each sum, ${what}: ${(100 * accuracy).toFixed(0)} % after three sums, mean loss ${loss.toFixed(2)}`,
    );
    learned.push({ engine, authorities, accuracy });
    if (accuracy < 0.9 || !(loss > 0 && loss < 1.2)) return failed('learning');
  }
  // With `--json` the kit puts its words where errors go, and one line of JSON where they would have been.
  let verdict = '';
  const stdout = {
    write: (text: string) => {
      verdict = text;
    },
  };
  const streams = { stdout, stderr: process.stdout };
  const code = await runLab(['conformance', 'client', '--json', '--', 'python3', '-m', 'basa'], streams);
  const { held = 0 } = JSON.parse(verdict) as { held?: number };
  return code === 0 ? { isGood: true, learned, held } : { ...failed('conformance kit'), held };
}
