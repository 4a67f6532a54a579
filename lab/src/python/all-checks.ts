/** Checks the client in Python: its own tests, the vectors, and sums with Node devices. test/services/conformance.test.ts tells it lies. */
import { spawnSync } from 'node:child_process';
import { learnTogether, type Together, type TrainerName } from './learn-together.ts';
import { followQuickStart } from './page.ts';
import { hasModule, PYTHON, PYTHON_FOLDER } from './python.ts';
import { reportsTogether, stopsAtItsBudget } from './tasks.ts';

interface Learned extends Together {
  readonly accuracy: number;
}

interface Ended {
  /** The last step that it reached, if it failed. */
  readonly failed?: string;
  readonly isGood: boolean;
  readonly learned: readonly Learned[];
}

export async function runAll(): Promise<Ended> {
  const learned: Learned[] = [];
  const failed = (what: string): Ended => ({ failed: what, isGood: false, learned });
  const passes = (...words: readonly string[]): boolean =>
    spawnSync(PYTHON, words, { cwd: PYTHON_FOLDER, stdio: 'inherit' }).status === 0;
  if (!passes('-m', 'unittest', 'discover', '-s', 'tests', '-t', '.')) return failed('tests');
  if (!passes('../../conformance/vectors/check.py')) return failed('vectors');
  const isStopped = await stopsAtItsBudget();
  console.log(`a privacy budget of one sum ${isStopped ? 'stops the second' : 'stops nothing'}`);
  if (!isStopped) return failed('privacy budget');
  const isSummed = await reportsTogether();
  console.log(`reports of a Python device and two Node devices ${isSummed ? 'have' : 'do not have'} their exact means`);
  if (!isSummed) return failed('statistics');
  for (const together of plan()) {
    const { accuracy, loss } = await learnTogether(together);
    const { authorities, trainer } = together;
    const what = `${trainer}${authorities > 1 ? `, ${authorities} authorities` : ''}`;
    const score = `${(100 * accuracy).toFixed(0)} % after three sums, mean loss ${loss.toFixed(2)}`;
    console.log(`with two Node devices in each sum, ${what}: ${score}`);
    learned.push({ ...together, accuracy });
    // The noise of a sum of three moves the score by a few points; chance is 33 %.
    if (accuracy < 0.75 || !(loss > 0 && loss < 1.2)) return failed('learning');
  }
  if (!(await isQuickStartGood())) return failed('quick start');
  return { isGood: true, learned };
}

/** The page trains with PyTorch on data of scikit-learn. */
async function isQuickStartGood(): Promise<boolean> {
  if (!hasModule('torch, sklearn')) return true;
  const percent = await followQuickStart();
  console.log(`the five steps of the page end at ${percent} %`);
  return percent >= 88;
}

/** The command with one authority and with four, and every trainer that can run here. */
function plan(): readonly Together[] {
  const optional = (['torch', 'sklearn'] as const).filter((name) => {
    const isThere = hasModule(name);
    if (!isThere)
      console.log(`${PYTHON} has no module ${name}: its trainer is left out; name a Python that has it in BASA_PYTHON`);
    return isThere;
  });
  const trainers: readonly TrainerName[] = ['numpy', 'asyncio', 'flower', ...optional];
  return [
    ...[1, 4].map((authorities) => ({ authorities, trainer: 'command' as const })),
    ...trainers.map((trainer) => ({ authorities: 1, trainer })),
  ];
}
