/** Every command that package.json or a page names can be started: what it names exists, and programs answer `--help`. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pagePaths, readPage } from '@basa/testkit/pages/snippets.ts';
import { sayingWhatIsMissing } from '@basa/testkit/programs/missing.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Paths of programs in a text: a word that begins with one of our folders and ends as a program does. */
const programsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:conformance|examples|lab|packages|scripts|test)\/[\w./-]+\.(?:ts|mts|mjs|py)\b/g)].map(
    ([path]) => path,
  );
const missing = (paths: readonly string[]): readonly string[] => paths.filter((path) => !existsSync(join(ROOT, path)));

it.each(Object.entries(scripts))('npm run %s names programs, tools and scripts that exist', (_, line) => {
  expect(missing(programsIn(line))).toEqual([]);
  for (const step of line.split(' && ')) {
    const [tool = '', ...words] = step.split(' ');
    if (tool === 'npm') expect(scripts).toHaveProperty([words.filter((word) => !word.startsWith('--'))[1] ?? '']);
    else if (!['node', 'python3'].includes(tool)) expect(missing([`node_modules/.bin/${tool}`])).toEqual([]);
  }
});

const files = ['scripts', 'test', 'packages', 'lab', 'conformance'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mts|mjs)$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => `${folder}/${name}`),
);

it('every program that another program starts or names exists', () => {
  expect(files.length).toBeGreaterThan(500);
  const named = files.flatMap((file) => {
    const quoted = readFileSync(join(ROOT, file), 'utf8').matchAll(/(['"`])((?:scripts|packages|lab)\/[^'"`\n]*)\1/g);
    return missing(programsIn([...quoted].map(([, , text]) => text).join('\n'))).map((path) => `${file}: ${path}`);
  });
  expect(named).toEqual([]);
});

it('CONTRIBUTING.md shows every script', () => {
  const page = readPage('CONTRIBUTING.md');
  const isShown = (script: string): boolean => new RegExp(`^npm (run )?${script}\\b(?!:).* # \\w+`, 'm').test(page);
  expect(Object.keys(scripts).filter((script) => !isShown(script))).toEqual([]);
});

it('git and lint ignore the files that the pages let people make in the clone', () => {
  const made = pagePaths().flatMap((page) =>
    [
      ...readPage(page).matchAll(
        /npm run basa -- (?:new|client .*--identity) ([\w-]+)|[Ss]ave (?:it|this|them) as `([\w.-]+)`/g,
      ),
    ].map(([, folder, file]) => folder ?? file ?? ''),
  );
  expect(made).toEqual(expect.arrayContaining(['my-project', 'my-device', 'device.ts', 'houses.ts']));
  const results = ['net.json', 'my-page', 'basa-simulation', '.basa-dev', 'basa-experiments'];
  const inClone = [...made, ...results].map((name) => `${name}/`);
  const { stdout } = spawnSync('git', ['check-ignore', '--', ...inClone], { cwd: ROOT, encoding: 'utf8' });
  expect(inClone.filter((name) => !stdout.split('\n').includes(name))).toEqual([]);
});

it.each([
  ['lab', ['bench', 'masking'], /^npm run lab --: openssl does not start .* install it/],
  ['lab', ['python'], /^python3 is missing; on Debian, install it with .*python3-cryptography/],
  ['gate', ['vectors'], /^python3 does not start: install it, then run the command again/],
])('npm run %s -- %s says what to do where a program is missing, without a stack', async (script, words, advice) => {
  const missing = runWith({ PATH: '/nowhere' }, scripts[script] ?? '', ...words);
  const code = script === 'gate' ? 1 : 2;
  await expect(missing).rejects.toMatchObject({ code, stderr: expect.stringMatching(advice) });
  await expect(missing).rejects.toMatchObject({ stderr: expect.not.stringMatching(/^ +at /m) });
});

const pages = pagePaths();
/** A page as far as it speaks of today: the older entries of the changelog name the commands of their time. */
const todaysPart = (page: string): string => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return page === 'CHANGELOG.md'
    ? text
        .split(/^(?=## )/m)
        .slice(0, 2)
        .join('')
    : text;
};
it.each(pages)('%s names scripts and programs that exist', (page) => {
  const text = todaysPart(page);
  const asked = [...text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g)].map(([, script = '']) => script);
  expect(asked.filter((script) => !(script in scripts))).toEqual([]);
  const started = [...text.matchAll(/\b(?:tsx|node|python3)(?: --\S+)* (\S+\.(?:ts|mjs|py))/g)].map(
    ([, path = '']) => path,
  );
  expect(missing(programsIn(started.join('\n')))).toEqual([]);
});

const helps = new Map<string, ReturnType<typeof run>>();

/** Runs a line of package.json with more words and `--help`, once for all tests. */
function helpOf(line: string, ...words: readonly string[]): ReturnType<typeof run> {
  const key = [line, ...words].join(' ');
  const help = helps.get(key) ?? run(line, ...words, '--help');
  helps.set(key, help);
  return help;
}

/** Runs a line of package.json with more words. */
async function run(line: string, ...words: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return await runWith({}, line, ...words);
}

async function runWith(env: NodeJS.ProcessEnv, line: string, ...words: readonly string[]) {
  const [, ...own] = (line.split(' && ').at(-1) ?? '').split(' ');
  return await promisify(execFile)(process.execPath, [...own, ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
}

/** Programs that answer `--help` without doing anything; vitest, tsc and others answer for themselves. */
const own = Object.entries(scripts).filter(([, line]) =>
  /typescript\.mjs .*\.ts/.test(line.split(' && ').at(-1) ?? ''),
);

it.each(own)('npm run %s -- --help describes it', async (_, line) => {
  const { stdout, stderr } = await helpOf(line);
  expect(stdout).toMatch(/\w+ \w+/);
  expect(stderr).toBe('');
});

/** Runs `npm run <command>` with more words; a command is a script, or one of the laboratory (`lab -- prove`). */
async function runCommand(command: string, ...words: readonly string[]) {
  const [line, ...before] = typedOf(command);
  return await run(line, ...before, ...words);
}

function typedOf(command: string): readonly [line: string, ...words: string[]] {
  const [script = '', ...group] = command.split(' -- ');
  return [scripts[script] ?? '', ...group];
}

/** Commands that take a name, and the names that each lists with `--help`. */
const lists = await Promise.all(
  ['gate', 'write', 'lab -- bench', 'lab -- prove', 'lab -- trial'].map(async (command) => {
    const [line, ...words] = typedOf(command);
    const { stdout } = await helpOf(line, ...words);
    return [command, [...stdout.matchAll(/^ {2}(\w+) {2,}\w/gm)].map(([, name = '']) => name)] as const;
  }),
);
const names = new Map(lists);

it.each(lists)('npm run %s lists %j, and refuses other names', async (command, listed) => {
  expect(listed.length).toBeGreaterThan(4);
  await expect(runCommand(command, 'nothing-of-this-name')).rejects.toMatchObject({ code: 2 });
});

it.each(
  lists
    .filter(([command]) => ['write', 'lab -- prove', 'lab -- trial'].includes(command))
    // Each is a process: the first two of every list are started here.
    .flatMap(([command, listed]) => listed.slice(0, 2).map((name) => [command, name] as const)),
)('npm run %s: %s --help says what it does', async (command, name) => {
  const { stdout, stderr } = await runCommand(command, name, '--help');
  expect(stdout).toMatch(/\w+ \w+/);
  expect(stderr).toBe('');
});

it.each([
  ['lab -- prove', 'shots'],
  ['lab -- trial', 'tests'],
])('npm run %s %s says in one sentence that it has no such option', async (command, name) => {
  const sentence = "Unknown option '--nonsense'; --help lists the options";
  await expect(runCommand(command, name, '--nonsense', '--json')).rejects.toMatchObject({
    code: 2,
    stderr: `${sentence}\n`,
    stdout: `${JSON.stringify({ error: sentence, exitCode: 2 })}\n`,
  });
});

it.each([Object.assign(new Error('a fault of ours'), { code: 1 }), undefined])(
  '%o is not taken for a wrong option',
  async (fault) => {
    await expect(sayingWhatIsMissing(() => Promise.reject(fault))).rejects.toBe(fault);
  },
);

it('every page and program names only existing parts of a script', () => {
  const texts = [...files, ...pages, 'conformance/vectors/check.py', 'deploy/Dockerfile'].map(
    (path) => [path, todaysPart(path)] as const,
  );
  const unknown = texts.flatMap(([path, text]) =>
    [
      ...text.matchAll(
        /\bnpm run (?:--silent )?(gate|write|lab) -- (?:--\w+ )*(?:(bench|prove|trial) (?:--\w+ )*)?([a-z]\w*)/g,
      ),
    ]
      .filter(([, script = '', group, name = '']) => {
        const listed = names.get(group === undefined ? script : `${script} -- ${group}`);
        return listed !== undefined && !listed.includes(name); // commands of the laboratory itself are in no list
      })
      .map(([said]) => `${path}: ${said}`),
  );
  expect(unknown).toEqual([]);
});
