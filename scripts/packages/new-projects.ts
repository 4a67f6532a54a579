/**
 * Follows what `basa new` prints, for every template and in every place where it is typed: in a clone that has only run `npm start`,
 * beside it, in a clone with the tools of development, and in a project that installed the packages.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exportsOf, freshEnvironment, shellBlocksIn, stepsIn } from '@basa/testkit/programs/typed.ts';
import { ROOT } from '@basa/testkit/root.ts';

interface Place {
  readonly name: string;
  /** The folder in which everything is typed. */
  readonly folder: string;
  /** Starts `basa` there. */
  readonly basa: string;
  /** The folder that is given to `basa new`, without its last part. */
  readonly into: string;
  readonly needsInstall: boolean;
  /** True if the READMEs of the projects are followed to their ends as well. */
  readonly isWalked?: true;
}

const env = freshEnvironment();

/** Throws with all that was printed if a command fails. */
async function typed(command: string, cwd: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-ec', command], { cwd, env: { ...env, ...variables } }).catch(
    ({ stdout: said, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`in ${cwd}, this failed: ${command}\n${said}\n${stderr}`);
    },
  );
  return stdout;
}

/** `consumer` has installed the tarballs. */
export function followInstalled(consumer: string): Promise<void> {
  const place = { folder: consumer, basa: 'npx basa', into: 'new-', needsInstall: true, isWalked: true } as const;
  return follow({ ...place, name: 'installed packages' });
}

/** In a copy of this working tree: first with what `npm run basa` installs, then with the tools of development. */
export async function followInClone(): Promise<void> {
  const elsewhere = mkdtempSync(join(tmpdir(), 'basa-new-'));
  const clone = join(elsewhere, 'a clone'); // with a space, as folders of people have
  const here = { folder: clone, basa: 'npm run --silent basa --' };
  try {
    copyTree(clone);
    await follow({ ...here, name: 'a fresh clone', into: 'new-', needsInstall: true });
    await follow({ ...here, name: 'beside a fresh clone', into: '../beside-', needsInstall: true, isWalked: true });
    await typed('npm run --silent setup', clone);
    await follow({ ...here, name: 'a clone after `npm test`', into: 'ready-', needsInstall: false });
    await follow({ ...here, name: 'beside a clone after `npm test`', into: '../ready-', needsInstall: false });
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
}

/** The content of a clone of this working tree. */
function copyTree(folder: string): void {
  mkdirSync(folder);
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const packed = execFileSync('tar', ['--null', '--files-from=-', '--ignore-failed-read', '-cf', '-'], {
    cwd: ROOT,
    input: list,
    maxBuffer: 2 ** 30,
  });
  execFileSync('tar', ['-xf', '-'], { cwd: folder, input: packed });
}

async function follow(place: Place): Promise<void> {
  const startedAt = performance.now();
  const { name, folder, basa } = place;
  const templates = templatesIn(await typed(`${basa} new --help`, folder));
  for (const template of templates) {
    const project = await newProject(place, template);
    if (place.isWalked && template !== 'browser') await walk(project); // test/browser walks that one, with tabs
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`${name}: the steps that \`basa new\` prints work for ${templates.join(', ')} (${seconds} s)`);
}

/** `--template <name>  node: ...; browser: ...` */
function templatesIn(help: string): readonly string[] {
  const [, words = ''] = /--template <name>([^(]*)\(/.exec(help) ?? [];
  const names = [...words.matchAll(/(\w+): /g)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`no template in:\n${help}`);
  return names;
}

async function newProject({ folder, basa, into, needsInstall }: Place, template: string): Promise<string> {
  const said = await typed(`${basa} new ${into}${template} --template ${template}`, folder);
  const steps = stepsIn(said);
  const hasInstall = steps.includes('npm install');
  if (hasInstall !== needsInstall || !steps.includes('npm run simulate')) throw new Error(`wrong steps:\n${said}`);
  const simulated = await typed(steps.join('\n'), folder);
  if (!simulated.includes('model.safetensors')) throw new Error(`no simulation:\n${simulated}`);
  const project = join(folder, `${into}${template}`);
  await typed('npm run check', project);
  if (template === 'browser') await typed('npm run build', project);
  // Commands that a person types later by habit keep the project as it is.
  if (!needsInstall) await typed('npm install && npm run check', project);
  return project;
}

/** The README of a project on Node: services in one terminal, then a task, three devices and the model as a file. */
async function walk(project: string): Promise<void> {
  const page = readFileSync(join(project, 'README.md'), 'utf8');
  const [, services = [], ...blocks] = shellBlocksIn(page);
  const dev = await startServices(`${services.join('\n')} --server-port 0 --authority-port 0`, project);
  try {
    for (const block of blocks) await typed(`${block.join('\n')}\nwait`, project, dev.variables);
  } finally {
    await dev.stop();
  }
}

/** Resolves when it has printed what to export. */
async function startServices(command: string, cwd: string) {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let said = '';
  const variables = await new Promise<Record<string, string>>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ctrl-C stops everything')) resolve(exportsOf(said));
    });
    void ended.then(() => reject(new Error(`${command} ended:\n${said}`)));
  });
  const stop = (): Promise<void> => {
    process.kill(-(child.pid ?? 0), 'SIGINT'); // as Ctrl-C does, to npm and all that it started
    return ended;
  };
  return { variables, stop };
}
