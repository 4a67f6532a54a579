/** Runs the oracle over a patched core, in its own process. */
import { spawn } from 'node:child_process';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import type { AttackReport } from '../../attacks/judgement.ts';
import { playShot } from '../../attacks/one-shot/shot-scene.ts';
import { withPatchedBundle } from '../patched-core.ts';
import type { Edit, Mutant } from './list.ts';

export interface MutantRun extends AttackReport {
  /** The first generated schedule that leaks as well, if one does. */
  readonly generated?: { readonly name: string; readonly leaked: readonly string[] };
}

/** Returns the information that the attack with this id gets from the core with these edits. */
export async function runPatched(edits: readonly Edit[], attack: string, schedules = 0): Promise<MutantRun> {
  const patches = edits.map((edit) => ({
    ...edit,
    file: edit.file.startsWith('packages/') ? edit.file : `packages/protocol/src/${edit.file}`,
  }));
  return withPatchedBundle('lab/src/proofs/mutants/entry.ts', patches, async (bundle) => {
    return JSON.parse(await outputOf(bundle, [attack, String(schedules)])) as MutantRun;
  });
}

/** True if the attack learned more than it may, or broke a promise. */
export function isCaught({ leaked, broken }: AttackReport): boolean {
  return leaked.length > 0 || broken.length > 0;
}

export interface MutantVerdict {
  readonly name: string;
  readonly attack: string;
  /** The unmodified core gives the same attack at most the sums of final batches. */
  readonly unpatchedHolds: boolean;
  readonly caught: boolean;
  readonly learned: readonly string[];
  readonly broken: readonly string[];
  /** The number of places in the core that enforce the rule. With `eachAloneStops`, any one of them stops the attack. */
  readonly edits: number;
  readonly eachAloneStops: boolean;
  /** The first generated schedule that also leaks, or null if no schedule leaks. */
  readonly generated: string | null;
}

/** Runs the unpatched core under the same attack, the mutant, and the mutant with each of its edits reverted. */
export async function judgeMutant(mutant: Mutant, schedules = 0): Promise<MutantVerdict> {
  const { name, edits, attack } = mutant;
  const unpatched = playShot(attack, nodeEnvironment);
  const run = await runPatched(edits, attack.id, schedules);
  const weaker = edits.length > 1 ? edits.map((_, n) => edits.filter((__, m) => m !== n)) : [];
  const stops = await Promise.all(weaker.map(async (some) => !isCaught(await runPatched(some, attack.id))));
  return {
    name,
    attack: attack.schedule,
    unpatchedHolds: !isCaught(unpatched),
    caught: isCaught(run),
    learned: run.leaked,
    broken: run.broken,
    edits: edits.length,
    eachAloneStops: stops.every((stop) => stop),
    generated: run.generated?.name ?? null,
  };
}

function outputOf(bundle: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, error] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      error += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`the mutant ended with ${code}: ${error}`)),
    );
  });
}
