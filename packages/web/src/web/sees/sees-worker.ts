/** The worker behind "What the server sees": runs one real batch, and plays the attacks of the threat model. */
import { isRefused, REFUSALS } from '@basa/protocol';
import { InputWords } from '@basa/protocol/wire';
import { chiSquareUniform, OneShotFederation, uniformityOf } from '@basa/simulator';
import { ATTACKS, type Attack, type AttackSetting } from '@basa/simulator/attacks';
import { loadPaperSealings, pageEnvironment } from '../shared/simulation.ts';
import type { AttackNews, FromSees, ToSees } from './sees-messages.ts';

const LEVEL = 2 ** 16;
const SHOWN_TESTS = 5;

function runBatch(pictures: readonly Float32Array[], tell: (news: FromSees) => void): void {
  const dimension = pictures[0]?.length ?? 0;
  const bufferSize = pictures.length;
  // No picture is longer, so none is clipped.
  const policy = { clip: Math.sqrt(dimension) };
  const options = { bufferSize, minimum: bufferSize, dimension, level: LEVEL, policy };
  const world = new OneShotFederation(pageEnvironment(), options);
  for (const picture of pictures) {
    const answer = world.shooter().contribute(picture);
    if (isRefused(answer)) throw new Error(`an upload was refused: ${answer.reason}`);
  }
  const uploads = [...world.shots.uploads.values()].map((upload) => world.shots.vector(upload));
  const vectors = uploads.map((upload) => InputWords.updateWords(world.policy, upload).update.slice());
  for (const [device, vector] of vectors.entries()) tell({ kind: 'upload', device, vector });
  tellEvenness(vectors, world.policy.modulus, tell);
  world.shots.inspect();
  const ctx = world.shots.form();
  if (ctx === undefined) throw new Error('the uploads made no batch');
  const verdict = world.shots.close(ctx);
  if (verdict.kind !== 'good') throw new Error('the sum did not open');
  const mean = Float32Array.from(verdict.sum, (value) => value / LEVEL);
  tell({ kind: 'sum', mean, isExact: isSumOf(verdict.sum, pictures) });
}

/** Pictures have whole steps of 1 / LEVEL, so rounding changes nothing: the sum must be exact. */
function isSumOf(sum: ArrayLike<number>, pictures: readonly Float32Array[]): boolean {
  return Array.from(sum).every(
    (value, k) => value === pictures.reduce((total, picture) => total + Math.round((picture[k] as number) * LEVEL), 0),
  );
}

function tellEvenness(
  vectors: readonly Uint32Array[],
  modulus: Parameters<typeof uniformityOf>[1],
  tell: (news: FromSees) => void,
): void {
  const byteCounts = new Uint32Array(256);
  for (const vector of vectors)
    for (const byte of new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength))
      byteCounts[byte] = (byteCounts[byte] as number) + 1;
  const tests = uniformityOf(vectors, modulus);
  tell({
    kind: 'evenness',
    byteCounts,
    pValue: chiSquareUniform(byteCounts).pValue,
    tests: tests.slice(0, SHOWN_TESTS),
    tried: tests.length,
  });
}

interface WorkerScope {
  postMessage(news: FromSees): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<ToSees>) => void): void;
}

const scope = self as unknown as WorkerScope;
const tell = (news: FromSees): void => scope.postMessage(news);
const loaded = loadPaperSealings();

scope.addEventListener('message', ({ data }) => {
  const work = data.kind === 'run' ? run(data.pictures) : playAttacks();
  work.catch((error: unknown) => tell({ kind: 'failed', message: String(error) }));
});

async function run(pictures: readonly Float32Array[]): Promise<void> {
  runBatch(pictures, tell);
}

async function playAttacks(): Promise<void> {
  const setting = { environment: pageEnvironment(), paperSealings: await loaded };
  for (const attack of ATTACKS) tell({ kind: 'attack', attack: played(attack, setting) });
  tell({ kind: 'attacks-over' });
}

/** The checks that stop it in one-shot mode are quoted from the tests: this tab has no services. */
function played(attack: Attack, setting: AttackSetting): AttackNews {
  const { id, schedule, inOneShot, stoppedBy } = attack;
  const { findings, wrongSum } = attack.paper(setting);
  const isSumWrong = wrongSum?.expected.some((value, k) => value !== wrongSum.got[k]) ?? false;
  const checks = stoppedBy.map(({ by, reason }) => ({ by, reason, sentence: REFUSALS[reason].sentence }));
  return { id, schedule, inOneShot, onPaper: { findings, isSumWrong }, checks };
}
