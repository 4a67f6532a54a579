/** The page of the client in Python and its notebook, as a reader follows them with a server and an authority. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalServices } from '@basa/cli/internal/local/local-services.ts';
import { readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { bundleBasa } from '@basa/testkit/processes/bundle-basa.ts';
import { PYTHON_FOLDER, runPython } from './python.ts';

const PAGE = 'clients/python/README.md';

interface Reader {
  /** Runs a Python program of the folder. */
  python(words: readonly string[], more?: Readonly<Record<string, string>>): Promise<string>;
  basa(command: string): Promise<string>;
  /** The path of the program that `basa` runs. */
  readonly program: string;
  write(name: string, text: string): Promise<void>;
}

async function reading<Result>(read: (reader: Reader) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'basa-python-page-'));
  const services = await startLocalServices({ folder, signal: new AbortController().signal });
  const { serverUrl, authorityUrl, authorityKey, operatorToken } = services;
  const variables = {
    BASA_SERVER: serverUrl,
    BASA_AUTHORITY: authorityUrl,
    BASA_AUTHORITY_KEY: authorityKey,
    BASA_OPERATOR_TOKEN: operatorToken,
    BASA_AUTHORITY_TOKEN: operatorToken,
  };
  const env = { ...process.env, ...variables };
  const program = await bundleBasa();
  try {
    return await read({
      python: async (words, more = {}) => (await runPython(words, { ...variables, ...more }, folder)).stdout,
      basa: async (command) =>
        (await promisify(execFile)(process.execPath, [program, ...wordsOf(command)], { cwd: folder, env })).stdout,
      program,
      write: (name, text) => writeFile(join(folder, name), text),
    });
  } finally {
    await services.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** As a shell reads them: a word in single quotes may have spaces. */
const wordsOf = (command: string): readonly string[] =>
  (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
const percentIn = (said: string): number => Number(/: (\d+) % right/.exec(said)?.[1]);
const taskIn = (said: string): string => /^task (\S+)$/m.exec(said)?.[1] ?? '';

/** The commands of the page, without its `npm run basa --`. */
function commandsOf(name: string): readonly string[] {
  const commands = [...readPage(PAGE).matchAll(/^npm run basa -- (.*)$/gm)].map(([, command = '']) => command);
  const ours = commands.find((command) => command.startsWith(`task create --name ${name} `));
  const others = commands.filter((command) => /^keys (?:make|enroll) /.test(command));
  return [ours ?? '', ...others.map((command) => command.replace('--task digits', `--task ${name}`))];
}

/** The five steps with PyTorch. The share that is right at the end, in percent. */
export function followQuickStart(): Promise<number> {
  return reading(async ({ python, basa, write }) => {
    await write('digits.py', snippetsOf(readPage(PAGE), 'python')[0]?.code ?? '');
    await python(['digits.py', 'network']);
    let said = '';
    for (const command of commandsOf('digits')) said += await basa(command);
    const more = { BASA_TASK: taskIn(said) };
    await Promise.all(['0', '1', '2'].map((number) => python(['digits.py', 'device', number], more)));
    return percentIn(await python(['digits.py', 'score'], more));
  });
}

/** A model described by shapes, trained by a function and then with flat arrays. The parameters at the end. */
export function followOwnTraining(): Promise<readonly number[]> {
  return reading(async ({ python, basa, write }) => {
    for (const { code } of snippetsOf(readPage(PAGE), 'python')) {
      const name = /^# (\w+\.py):/.exec(code)?.[1];
      if (name !== undefined) await write(name, code);
    }
    await python(['describe.py']);
    let said = '';
    for (const command of commandsOf('line')) said += await basa(command.replace('--count 3', '--count 6'));
    const more = { BASA_TASK: taskIn(said) };
    await Promise.all(['0', '1', '2'].map((number) => python(['function.py', number], more)));
    const reached = async (version: number): Promise<readonly number[]> => {
      const program = [
        'import basa, json, time',
        'with basa.Client.from_environment("line-0") as client:',
        `    while (model := client.model()).version < ${version}: time.sleep(0.1)`,
        'print(json.dumps(model.parameters.tolist()))',
      ];
      return JSON.parse(await python(['-c', program.join('\n')], more)) as number[];
    };
    await reached(1);
    await Promise.all(['3', '4', '5'].map((number) => python(['flat.py', number], more)));
    return reached(2);
  });
}

/** The cells of the notebook, one after the other. The share that is right at the end, in percent. */
export async function followNotebook(): Promise<number> {
  const file = join(PYTHON_FOLDER, 'examples/corners.ipynb');
  const { cells } = JSON.parse(await readFile(file, 'utf8')) as {
    cells: readonly { readonly cell_type: string; readonly source: readonly string[] }[];
  };
  const code = cells.filter(({ cell_type }) => cell_type === 'code').map(({ source }) => source.join(''));
  return reading(async ({ python, write, program }) => {
    await write('cells.py', code.join('\n\n'));
    return percentIn(await python(['cells.py'], { BASA_COMMAND: `${process.execPath} ${program}` }));
  });
}
